"""Sends transitions of randomized simulated arms, no faster than the learner's budget allows."""

from __future__ import annotations

import numpy as np
from ompo_msgs.msg import ArmBelief, EpisodeSummary, LearnerStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from ompo_ros.nodes.beliefs import domain_from_msg
from ompo_ros.nodes.parameters import SourceCollectorParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.batches import BatchPublisher
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.learner_status import Metrics, hear_status
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.policy_feed import PolicyFeed
from ompo_ros.nodes.wire.process import run
from ompo_ros.nodes.wire.reports import episode_summary
from ompo_ros.nodes.wire.run_end import end_with_run
from ompo_ros.nodes.wire.source_share import SourceShare
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.sim.parameters import COLUMN_NAMES
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Float32Array, Task
from ompo_ros.transitions import InvalidData, Origin


class SourceCollector(Node):
    """N arms with one policy; actions are random until the first policy arrives."""

    def __init__(self) -> None:
        super().__init__("source_collector", **OVERRIDES)
        given = declare(self, SourceCollectorParameters)
        self._identity = Identity(self, given.run_id)
        self._arms, self._batch_steps = given.arms, given.batch_steps
        own_seed = given.seed + 1_000_003 * given.index
        robot = load_robot(given.robot)
        self._prior = load_domain(given.domain)
        env = PandaVectorEnv(
            self._arms,
            given.task,
            given.reward,
            self._prior,
            threads=given.threads,
            limits=robot if given.limits else None,
        )
        self._contract = Task(given.task, given.reward).on(robot)
        self._collection = Collection(env, own_seed)
        self._rng = np.random.default_rng(own_seed)
        self._policies = PolicyFeed(self, "policy/latest", self._contract, self._identity, batch=self._arms)
        self._share = SourceShare(given.num_sources)
        self._rests = False  # the learner wants nothing, whatever its budget
        self._finished = 0
        self._transitions = BatchPublisher(self, "source/transitions", self._identity)
        self._episodes = self.create_publisher(EpisodeSummary, "source/episodes", qos.EPISODES)
        ours = self._identity.only_ours
        hear_status(self, self._identity, self._on_status)
        if given.belief:
            self.create_subscription(ArmBelief, "belief", ours(self._on_belief), qos.LATCHED)
        end_with_run(self, self._identity)
        self.get_logger().info(
            f"{self._arms} arms of domain {given.domain!r} are ready, waiting for the learner's counts"
        )

    def _on_belief(self, msg: ArmBelief) -> None:
        try:
            domain = domain_from_msg(msg, self._prior)
        except InvalidData as error:
            self.get_logger().error(f"belief refused, the arms stay as they are: {error}")
            return
        self._collection.restart(domain)
        self._share.count(-self._transitions.discard())

    def _on_status(self, msg: LearnerStatus, _: Metrics) -> None:
        self._rests = msg.state in (LearnerStatus.PAUSED, LearnerStatus.FINISHED)
        self._share.hear(msg.source_steps, msg.source_budget, all_sent=self._transitions.flush())

    def wanted(self) -> bool:
        """Whether our share of the learner's budget has room, and there is a receiver."""
        if not self._transitions.flush() or self._rests:
            return False
        return self._share.has_room and self._transitions.is_heard

    def collect(self) -> None:
        """Play and send one batch."""
        policy = self._policies.newest()
        act = self._explore_at_random if policy is None else lambda obs: policy.sample(obs, self._rng)
        version = policy.version if policy else 0
        transitions, episodes = self._collection.run(act, self._batch_steps, version)
        stamp = self.get_clock().now().to_msg()
        name = self.get_fully_qualified_name()
        self._transitions.send(transitions, stamp)
        self._share.count(len(transitions))
        for episode in episodes:
            self._episodes.publish(
                episode_summary(
                    episode,
                    origin=Origin.SOURCE,
                    run_id=self._identity.run_id,
                    collector_id=name,
                    episode=self._finished,
                    stamp=stamp,
                    domain_names=COLUMN_NAMES,
                )
            )
            self._finished += 1

    def rest(self) -> None:
        """Load a received policy during the next batch; call it between two batches."""
        self._policies.pause()

    def destroy_node(self) -> None:
        """Stop the loader before its node ends."""
        self._policies.close()
        super().destroy_node()

    def _explore_at_random(self, obs: Float32Array) -> Float32Array:
        return self._rng.uniform(-1.0, 1.0, (len(obs), self._contract.action_size)).astype(np.float32)


def turn(node: SourceCollector, executor: SingleThreadedExecutor) -> None:
    """Simulate between callbacks, in one thread: a policy changes only between two batches."""
    wanted = node.wanted()
    if wanted:
        node.collect()
    executor.spin_once(timeout_sec=0.0 if wanted else 0.1)
    node.rest()


def main() -> None:
    """Collect until stopped."""
    run(SourceCollector, turn)


if __name__ == "__main__":
    main()
