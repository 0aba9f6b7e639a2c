"""Turns transitions into a policy: fills the buffers, trains as the data allow, publishes actors, keeps checkpoints."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

import rclpy
from ompo_msgs.msg import ActorWeights, EpisodeSummary, LearnerStatus, TransitionBatch
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger
from torch.utils.tensorboard import SummaryWriter

from ompo_ros.conversions import check_episode, tensors_to_msgs, transitions_from_msg
from ompo_ros.domains.tasks import Task
from ompo_ros.files import write_whole
from ompo_ros.learning import Config, checkpoint, make_agent, settings
from ompo_ros.learning.pacing import Pacing
from ompo_ros.learning.pretrained import load_networks
from ompo_ros.nodes import qos
from ompo_ros.nodes.identity import Identity
from ompo_ros.nodes.main import STEADY, run
from ompo_ros.nodes.parameters import InvalidParameter, declare, refuse_unknown
from ompo_ros.resources import resource_path
from ompo_ros.streams import StreamCounts
from ompo_ros.transitions import InvalidData, Origin

SLICE = 4  # updates between two looks at the callbacks: a few dozen milliseconds on one core
BEHIND = 15.0  # s of updates that may be due before it is told
DRAIN = 0.05  # s; how long callbacks may go on before training goes on


class Learner(Node):
    """One agent between the collectors' transitions and the policy server's ActorWeights."""

    def __init__(self) -> None:
        super().__init__("learner")
        self._identity = Identity(self)
        task = declare(self, "task", "reach", "Task that is learned.", choices=("reach", "push"))
        reward = declare(self, "reward", "dense", "The task's reward.", choices=("dense", "sparse"))
        seed = declare(self, "seed", 0, "Start of all randomness.", low=0, high=2**31)
        device = declare(self, "device", "auto", "Where the networks live: auto, cpu, cuda or cuda:N.")
        self._folder = Path(declare(self, "run_dir", "runs/adapt", "Folder of this run's checkpoints and logs."))
        resume = declare(self, "resume", False, "Go on from the run's newest checkpoint; without one, start afresh.")
        pretrained = declare(
            self, "pretrained", "", "Networks to start from: a file, or one under models/; empty: none."
        )
        self._publish_period = declare(
            self, "publish_period", 2.0, "Seconds between two actors.", low=0.05, high=3600.0
        )
        self._save_period = declare(
            self, "checkpoint_period", 60.0, "Seconds between two checkpoints.", low=1.0, high=1e6
        )
        self._keep = declare(self, "keep_checkpoints", 2, "Checkpoints kept.", low=1, high=1000)
        self._pacing = self._declare_pacing()
        contract = Task(task, reward).contract
        config = self._declare_config()
        refuse_unknown(self)
        self._version = 0
        dimensions = (contract.observation_size, contract.action_size)
        self._agent = make_agent(config, *dimensions, seed, device)
        if not (resume and self._resume()) and pretrained:
            load_networks(self._agent, resource_path(pretrained))
        self._counts = StreamCounts()
        self._refused = self._target_episodes = 0
        self._received = 0
        self._paused = False
        self._done = False
        self._metrics: Mapping[str, float] = {}
        self._rate_mark = (time.monotonic(), self._agent.updates)
        self._next_publish = time.monotonic() + self._publish_period
        self._next_save = time.monotonic() + self._save_period
        self._log = SummaryWriter(str(self._folder / "tensorboard"))
        self._actor = self.create_publisher(ActorWeights, "actor", qos.LATCHED)
        self._status = self.create_publisher(LearnerStatus, "status", qos.LATCHED)
        ours = self._identity.only_ours
        for origin in ("source", "target"):
            self.create_subscription(TransitionBatch, f"{origin}/transitions", ours(self._on_batch), qos.TRANSITIONS)
        self.create_subscription(EpisodeSummary, "target/episodes", ours(self._on_episode), qos.EPISODES)
        self.create_service(Trigger, "~/save_checkpoint", self._on_save)
        self.create_service(SetBool, "~/set_paused", self._on_pause)
        self.create_timer(1.0, self._report, clock=STEADY)
        if pretrained or resume:
            self._publish_actor()
        self._report()
        self.get_logger().info(f"{config.algorithm} on {self._agent.device}, {config.setting}, run in {self._folder}")

    def _declare_pacing(self) -> Pacing:
        return Pacing(
            warmup=declare(self, "warmup", 2000, "Transitions before the first update.", low=0, high=10**9),
            source_ratio=declare(self, "source_ratio", 3.0, "Source per target transition.", low=0.0, high=1e6),
            update_to_data=declare(self, "update_to_data", 3.0, "Updates per target transition.", low=0.0, high=1e4),
            target_steps=declare(self, "target_steps", 0, "Target transitions to take; 0: endless.", low=0, high=10**9),
        )

    def _declare_config(self) -> Config:
        """Every setting of the learning room under `learning.`, with its own words and ranges."""
        values = {}
        for setting in settings():
            numeric = not setting.choices and not isinstance(setting.default, (bool, str))
            values[setting.name] = declare(  # type: ignore[type-var] # a setting is of any one kind
                self,
                f"learning.{setting.name}",
                setting.default,
                f"{setting.why} (paper: {setting.paper})",
                low=setting.low if numeric else None,
                high=setting.high if numeric else None,
                choices=setting.choices,
            )
        return Config.from_dict(values)

    def _resume(self) -> bool:
        """Go on from the newest checkpoint, of which settings and sizes have to be ours; whether there is one."""
        if self._version_file.exists():  # also without a checkpoint: a version means one policy for ever
            self._version = json.loads(self._version_file.read_text())["version"]
        newest = checkpoint.newest_good(self._folder / "checkpoints")
        if newest is None:
            self.get_logger().info(f"nothing to resume in {self._folder}, starting afresh")
            return False
        try:
            checkpoint.restore(self._agent, newest)
        except checkpoint.CheckpointError as error:
            raise InvalidParameter(str(error)) from error
        self.get_logger().info(f"resumed from {newest}: {self._agent.updates} updates, policy {self._version}")
        return True

    @property
    def _version_file(self) -> Path:
        return self._folder / "policy_version.json"

    # -- what comes in ------------------------------------------------------------------------------------------

    def _on_batch(self, msg: TransitionBatch) -> None:
        self._received += 1
        lost = self._counts.count(msg.collector_id, msg.session, msg.sequence)
        if lost:
            self.get_logger().warning(f"{lost} batches of {msg.collector_id!r} were lost")
        try:
            self._agent.observe(transitions_from_msg(msg))
        except InvalidData as error:
            self._refused += 1
            self.get_logger().warning(f"refused a batch of {msg.collector_id!r}: {error}", throttle_duration_sec=5.0)

    def _on_episode(self, msg: EpisodeSummary) -> None:
        try:
            check_episode(msg)
        except InvalidData as error:
            self._refused += 1
            self.get_logger().warning(f"refused an episode of {msg.collector_id!r}: {error}")
            return
        if not msg.deterministic and msg.outcome != EpisodeSummary.DROPPED:
            self._target_episodes += 1
            self._log.add_scalar("target/return", msg.episode_return, self._target_steps)
            self._log.add_scalar("target/success", msg.success, self._target_steps)

    def _on_save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = True, str(self._save())
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = request.data
        response.success, response.message = True, "paused" if self._paused else "training"
        self._report()
        return response

    # -- what goes on -------------------------------------------------------------------------------------------

    @property
    def received(self) -> int:
        """Batches that came so far, good or bad."""
        return self._received

    @property
    def _target_steps(self) -> int:
        return self._agent.experience.seen[Origin.TARGET]

    def train(self) -> bool:
        """Make the updates that are due, a slice of them at most; False if none is."""
        seen = self._agent.experience.seen
        due = self._pacing.updates_due(seen[Origin.SOURCE], seen[Origin.TARGET], self._agent.updates)
        if self._done or self._paused or due == 0 or not self._agent.ready:
            self._finish_if_done()
            return False
        self._metrics = self._agent.update(min(due, SLICE))
        now = time.monotonic()
        if now >= self._next_publish:
            self._publish_actor()
        if now >= self._next_save:
            self._save()
        return True

    def _finish_if_done(self) -> None:
        if not self._done and self._pacing.finished(self._target_steps, self._agent.updates):
            self._done = True
            self._publish_actor(average=True)
            self._save()
            self._report()

    def _publish_actor(self, average: bool = False) -> None:
        """Send what shall explore next or, at the end of a run, the average that is left to its user."""
        self._version += 1
        write_whole(self._version_file, json.dumps({"version": self._version}).encode())
        actor = ActorWeights(
            version=self._version,
            updates=self._agent.updates,
            target_steps=self._target_steps,
            obs_dim=self._agent.obs_dim,
            act_dim=self._agent.act_dim,
            architecture=self._agent.config.first_layer,
            tensors=tensors_to_msgs(self._agent.actor_tensors(average)),
        )
        self._actor.publish(self._identity.sign(actor, "actor"))
        self._next_publish = time.monotonic() + self._publish_period

    def _save(self) -> Path:
        path = checkpoint.save(self._agent, self._folder / "checkpoints", self._keep)
        self._next_save = time.monotonic() + self._save_period
        return path

    def _report(self) -> None:
        seen, now = self._agent.experience.seen, time.monotonic()
        since, updates_then = self._rate_mark
        rate = (self._agent.updates - updates_then) / max(now - since, 1e-3)
        self._rate_mark = (now, self._agent.updates)
        self._warn_if_behind(rate)
        metrics = {name: float(value) for name, value in self._metrics.items()}
        for name, value in metrics.items():
            self._log.add_scalar(f"learner/{name}", value, self._agent.updates)
        self._status.publish(
            LearnerStatus(
                run_id=self._identity.run_id,
                stamp=self.get_clock().now().to_msg(),
                state=self._state(),
                device=str(self._agent.device),
                target_steps=seen[Origin.TARGET],
                source_steps=seen[Origin.SOURCE],
                source_budget=self._pacing.source_budget(seen[Origin.TARGET]),
                target_episodes=self._target_episodes,
                updates=self._agent.updates,
                updates_per_second=rate,
                update_to_data=self._agent.updates / max(seen[Origin.TARGET], 1),
                policy_version=self._version,
                lost_batches=self._counts.lost,
                refused_messages=self._refused + self._identity.refused,
                metric_names=list(metrics),
                metric_values=list(metrics.values()),
            )
        )

    def _warn_if_behind(self, rate: float) -> None:
        seen, updates = self._agent.experience.seen, self._agent.updates
        behind = self._pacing.updates_due(seen[Origin.SOURCE], seen[Origin.TARGET], updates)
        if self._state() == LearnerStatus.TRAINING and behind > BEHIND * rate:
            self.get_logger().warning(
                f"{behind} updates behind: {rate:.0f}/s are made, update_to_data asks for more",
                throttle_duration_sec=30.0,
            )

    def _state(self) -> int:
        if self._done:
            return int(LearnerStatus.FINISHED)
        if self._paused:
            return int(LearnerStatus.PAUSED)
        return int(LearnerStatus.TRAINING if self._agent.updates else LearnerStatus.WAITING)

    def destroy_node(self) -> None:
        """Keep what was learned."""
        if self._agent.experience.global_.size:
            self._save()
        self._log.close()
        super().destroy_node()


def look(executor: SingleThreadedExecutor, node: Learner, timeout: float) -> bool:
    """Handle what is ready; whether a batch was among it."""
    before = node.received
    executor.spin_once(timeout_sec=timeout)
    if node.received > before:
        executor.spin_once(timeout_sec=0.0)  # after a callback, rclpy's next call without a timeout only ends its round
    return node.received > before


def spin(node: Learner) -> None:
    """Train between callbacks, in one thread: no lock, no contention, and nobody waits longer than a slice."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while rclpy.ok():
        timeout = 0.0 if node.train() else 0.02
        deadline = time.monotonic() + DRAIN
        while look(executor, node, timeout) and time.monotonic() < deadline:
            timeout = 0.0


def main() -> None:
    """Learn until stopped."""
    run(Learner, spin)


if __name__ == "__main__":
    main()
