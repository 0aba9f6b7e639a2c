"""Takes a run from its first evaluation to its report: evaluate, explore, tell how it goes, evaluate again, end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from action_msgs.msg import GoalStatus
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import EpisodeSummary, LearnerStatus, PolicyArtifact
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool

from ompo_ros.conversions import check_episode, metrics_from_msg
from ompo_ros.experiments.record import Evaluation, RunRecord, Sample, progress_line
from ompo_ros.experiments.report import write_run
from ompo_ros.nodes import qos
from ompo_ros.nodes.main import STEADY, Finished, run
from ompo_ros.nodes.parameters import declare, refuse_unknown
from ompo_ros.transitions import InvalidData

_EXPORT_PATIENCE = 10.0  # s that the learner's newest actor may take to become a policy; one may also be refused


class RunManager(Node):
    """Commands record intent: each stage ends by starting the next one."""

    def __init__(self) -> None:
        super().__init__("run_manager")
        self._folder = Path(declare(self, "run_dir", "runs/adapt", "Folder of the report."))
        self._episodes_before = declare(self, "episodes_before", 20, "Evaluated before; 0: none.", low=0, high=100_000)
        self._episodes_after = declare(
            self, "episodes_after", 100, "Evaluated at the end; 0: none.", low=0, high=100_000
        )
        self._settings = json.loads(
            declare(self, "settings", "{}", "What the run was started with, as JSON, for the report.")
        )
        period = declare(self, "progress_period", 5.0, "Seconds between two progress lines.", low=0.5, high=3600.0)
        target_steps = declare(self, "target_steps", 0, "Target transitions the run ends after.", low=0, high=10**9)
        refuse_unknown(self)
        self._record = RunRecord(target_steps)
        self._began: float | None = None
        self._learner: LearnerStatus | None = None
        self._awaited = (0, 0.0)  # version of the actor whose policy is waited for, and since when
        self._latest = 0
        self._ending = False
        self._evaluate = ActionClient(self, Evaluate, "target_collector/evaluate")
        self._enable = self.create_client(SetBool, "target_collector/set_enabled")
        self.create_subscription(LearnerStatus, "status", self._on_status, qos.LATCHED)
        self.create_subscription(EpisodeSummary, "target/episodes", self._on_episode, qos.EPISODES)
        self.create_subscription(PolicyArtifact, "policy/latest", self._on_policy, qos.LATCHED)
        self.create_timer(period, self._tell, clock=STEADY)
        self._start = self.create_timer(0.2, self._begin_when_all_are_there, clock=STEADY)

    # -- stages -------------------------------------------------------------------------------------------------

    def _begin_when_all_are_there(self) -> None:
        if self._learner is None or not self._evaluate.server_is_ready() or not self._enable.service_is_ready():
            return
        if not self._has_policy_of(self._learner.policy_version):
            return
        self._start.cancel()
        self._enable.call_async(SetBool.Request(data=True)).add_done_callback(self._on_enabled)

    def _on_enabled(self, _: Future) -> None:
        """The arm is on its way home; an evaluation asked for now comes before any exploration."""
        if self._episodes_before and self._latest > 0:
            self.get_logger().info(f"evaluating the policy as it comes, {self._episodes_before} episodes")
            self._play(self._episodes_before, self._explore)
        else:
            self._explore(None)

    def _has_policy_of(self, actor: int) -> bool:
        """Whether an actor's policy is out, so that it is the one evaluated; False while there is hope for it."""
        if self._awaited[0] != actor:
            self._awaited = (actor, time.monotonic())
        return self._latest >= actor or time.monotonic() - self._awaited[1] > _EXPORT_PATIENCE

    def _explore(self, before: Evaluation | None) -> None:
        self._record.before = before
        self.get_logger().info(f"before: {before or 'not evaluated, there is no policy yet'}")
        self._began = time.monotonic()

    def _end(self) -> None:
        self._ending = True
        if not self._episodes_after:
            self._report(None)
            return
        self.get_logger().info(f"the run's steps are taken; evaluating the result, {self._episodes_after} episodes")
        self._play(self._episodes_after, self._report)

    def _report(self, after: Evaluation | None) -> None:
        self._record.after = after
        path = write_run(self._folder, self._record, self._settings)
        self.get_logger().info(f"before: {self._record.before or 'not evaluated'}")
        self.get_logger().info(f"after:  {after or 'not evaluated'}")
        self.get_logger().info(f"report: {path}")
        raise Finished

    def _play(self, episodes: int, then: Callable[[Evaluation | None], None]) -> None:
        """Have the target collector evaluate the newest policy, and go on with the result."""

        def on_result(future: Future) -> None:
            result = future.result()
            if result.status != GoalStatus.STATUS_SUCCEEDED:
                self.get_logger().error(f"the evaluation failed: {result.result.message or 'it was cancelled'}")
                then(None)
                return
            played = result.result.episodes
            successes = sum(episode.success for episode in played)
            version = played[-1].policy_version if played else 0
            then(Evaluation(version, successes, len(played), result.result.mean_return))

        def on_answer(future: Future) -> None:
            handle = future.result()
            if not handle.accepted:
                self.get_logger().error("the target collector refused to evaluate")
                then(None)
                return
            handle.get_result_async().add_done_callback(on_result)

        self._evaluate.send_goal_async(Evaluate.Goal(episodes=episodes, policy_version=self._latest)).add_done_callback(
            on_answer
        )

    # -- what comes in ------------------------------------------------------------------------------------------

    def _on_status(self, msg: LearnerStatus) -> None:
        try:
            metrics = metrics_from_msg(msg)
        except InvalidData as error:
            self.get_logger().error(f"status refused: {error}")
            return
        self._learner = msg
        if self._began is None:
            return
        success, episode_return = self._record.now
        self._record.samples.append(
            Sample(
                seconds=time.monotonic() - self._began,
                target_steps=msg.target_steps,
                episodes=self._record.episodes,
                success=success,
                episode_return=episode_return,
                updates=msg.updates,
                updates_per_second=msg.updates_per_second,
                source_steps=msg.source_steps,
                policy_version=msg.policy_version,
                r_local=metrics.get("R_local", float("nan")),
                r_global=metrics.get("R_global", float("nan")),
            )
        )
        if msg.state == LearnerStatus.FINISHED and not self._ending and self._has_policy_of(msg.policy_version):
            self._end()

    def _on_policy(self, msg: PolicyArtifact) -> None:
        self._latest = int(msg.version)

    def _on_episode(self, msg: EpisodeSummary) -> None:
        try:
            check_episode(msg)
        except InvalidData as error:
            self.get_logger().error(f"episode refused: {error}")
            return
        if msg.outcome == EpisodeSummary.DROPPED:
            self._record.dropped += 1
        elif not msg.deterministic:
            self._record.add_episode(msg.success, msg.episode_return)

    def _tell(self) -> None:
        if self._began is not None and not self._ending:
            self.get_logger().info(progress_line(self._record))


def main() -> None:
    """Manage one run, then end."""
    run(RunManager)


if __name__ == "__main__":
    main()
