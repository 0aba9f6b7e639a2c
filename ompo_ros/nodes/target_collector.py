"""Plays the newest policy on the robot through its standard topics and sends the transitions to the learner."""

from __future__ import annotations

from ompo_msgs.msg import EpisodeSummary
from rclpy.node import Node

from ompo_ros.control.collector import Collector
from ompo_ros.control.episode import PlayedEpisode
from ompo_ros.nodes.arm import Arm
from ompo_ros.nodes.evaluate_action import EvaluateAction
from ompo_ros.nodes.parameters import TargetCollectorParameters
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.learner_link import LearnerLink
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.policy_feed import PolicyFeed
from ompo_ros.nodes.wire.process import run
from ompo_ros.policy.runtime import shorten_thread_switches
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin


class TargetCollector(Node):
    """Connects the collector's state machine to the arm, the learner, the policy server and the action ~/evaluate."""

    def __init__(self) -> None:
        super().__init__("target_collector", **OVERRIDES)
        given = declare(self, TargetCollectorParameters)
        identity = Identity(self, given.run_id)
        self._dry_run = given.dry_run
        self.collector = Collector(
            load_robot(given.robot, given.driver),
            Task(given.task, given.reward),
            seed=given.seed,
            max_steps=given.target_steps,
            scripted=given.scripted_episodes,
            speed_scale=given.speed_scale,
            home=not given.dry_run,
            cube_rest_time=given.cube_rest_time,
        )
        self._learner = LearnerLink(self, identity, self.collector.player, lockstep=given.lockstep)
        self._policies = PolicyFeed(self, "policy/latest", self.collector.motion.contract, identity)
        self._evaluate = EvaluateAction(self, identity, self.collector)
        self.arm = Arm(
            self,
            given,
            identity,
            self.collector,
            before_tick=self._before_tick,
            after_tick=self._after_tick,
            on_episode=self._on_episode,
        )

    def _before_tick(self) -> str:
        self.collector.player.policy = self._policies.newest()
        self.collector.player.may_explore = self._learner.keeps_up
        return self._learner.problem

    def _after_tick(self) -> None:
        self._evaluate.tick()
        self._policies.pause()

    def _on_episode(self, finished: PlayedEpisode, summary: EpisodeSummary) -> None:
        """Send explored and demonstrated episodes to the learner, and evaluation episodes to their evaluation."""
        if finished.origin is Origin.DEMONSTRATION and finished.completed:
            self.get_logger().info(f"the script's episode {'succeeded' if finished.success else 'failed'}")
        if finished.transitions is not None and not finished.deterministic and not self._dry_run:
            self._learner.send(finished.transitions, summary.stamp)
        self._evaluate.episode_ended(summary)

    def destroy_node(self) -> None:
        """Stop the loaders before their node ends."""
        self._policies.close()
        self._evaluate.close()
        super().destroy_node()


def main() -> None:
    """Run the collector until it is stopped."""
    shorten_thread_switches()
    run(TargetCollector, ending_of=lambda node: node.arm)


if __name__ == "__main__":
    main()
