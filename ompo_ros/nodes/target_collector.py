"""Plays the newest policy on the robot through its standard topics and sends what happened to the learner."""

from __future__ import annotations

import secrets
import time
from typing import Final

from ompo_msgs.msg import EpisodeSummary, LearnerStatus, PolicyArtifact, TransitionBatch

from ompo_ros.control.collector import Collector
from ompo_ros.control.episode import FinishedEpisode
from ompo_ros.nodes.arm_node import ArmNode
from ompo_ros.nodes.evaluate_action import EvaluateAction
from ompo_ros.nodes.parameters import TargetCollectorParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_from_msg, transitions_to_msg
from ompo_ros.nodes.wire.process import run_arm
from ompo_ros.policy.runtime import PolicyRuntime

_SILENCE: Final = 5.0  # s without the learner's status, which comes every second, until the arm holds


class TargetCollector(ArmNode):
    """Wires the collector's state machine to the learner, the policy server and the action ~/evaluate."""

    def __init__(self) -> None:
        super().__init__("target_collector", TargetCollectorParameters)
        given = self.given
        assert isinstance(given, TargetCollectorParameters)  # noqa: S101 - what ArmNode was asked for
        self.collector = Collector(
            self.robot,
            self.task,
            seed=given.seed,
            max_steps=given.target_steps,
            speed_scale=given.speed_scale,
            home=not self.dry_run,
        )
        self._learner_steps = -1
        self._learner_heard: float | None = None
        self._sent_since_status = False
        self._session, self._sequence = secrets.randbits(63), 0
        self._transitions = self.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
        ours = self.identity.only_ours
        self.create_subscription(PolicyArtifact, "policy/latest", ours(self._on_policy, "policy/latest"), qos.LATCHED)
        self.create_subscription(LearnerStatus, "status", ours(self._on_status), qos.LATCHED)
        self._evaluate = EvaluateAction(self, self.collector, self.load_policy, self.identity)
        self.connect(self.collector)

    def load_policy(self, msg: PolicyArtifact) -> PolicyRuntime:
        """Make a received policy runnable for this robot; ValueError says why not."""
        onnx = artifact_from_msg(msg)
        return PolicyRuntime(onnx, self.contract, sha256=msg.sha256)

    def _on_policy(self, msg: PolicyArtifact) -> None:
        try:
            self.collector.policy = self.load_policy(msg)
        except ValueError as error:
            self.get_logger().error(f"refused policy {msg.version}, keeping the one before: {error}")

    def _on_status(self, msg: LearnerStatus) -> None:
        """Take over the learner's count: it may have resumed with more than we sent, or have died with less."""
        self._learner_heard = time.monotonic()
        all_arrived = msg.target_steps == self._learner_steps and not self._sent_since_status
        if msg.target_steps > self.collector.target_steps or all_arrived:
            self.collector.target_steps = msg.target_steps
        self._learner_steps, self._sent_since_status = msg.target_steps, False

    def on_episode(self, finished: FinishedEpisode, summary: EpisodeSummary) -> None:
        """Send what was explored to the learner, tell the evaluation what was played for it."""
        if finished.transitions is not None and not finished.deterministic and not self.dry_run:
            self._transitions.publish(
                transitions_to_msg(
                    finished.transitions,
                    collector_id=self.id,
                    session=self._session,
                    run_id=self.identity.run_id,
                    sequence=self._sequence,
                    stamp=summary.stamp,
                )
            )
            self._sequence += 1
            self._sent_since_status = True
        self._evaluate.episode_ended(summary)

    def hold_reason(self) -> str:
        """Without its learner the arm would move for nothing."""
        heard = self._learner_heard
        silence = 0.0 if heard is None else time.monotonic() - heard
        return f"the learner has been silent for {silence:.0f} s" if silence > _SILENCE else ""

    def after_tick(self) -> None:
        self._evaluate.tick()


def main() -> None:
    """Run the collector until it is stopped."""
    run_arm(TargetCollector)


if __name__ == "__main__":
    main()
