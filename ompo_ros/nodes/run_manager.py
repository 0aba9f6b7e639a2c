"""Takes a run from its first evaluation to its report: evaluate, explore, say how it goes, evaluate again, end."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ompo_msgs.msg import EpisodeSummary, LearnerStatus, PolicyArtifact
from ompo_msgs.srv import JudgePolicy, SetEnabled
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.nodes.parameters import RunManagerParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import check_episode
from ompo_ros.nodes.wire.evaluation_client import Episodes, EvaluationClient
from ompo_ros.nodes.wire.identity import Identity, enabling_request
from ompo_ros.nodes.wire.judgement_client import JudgementClient
from ompo_ros.nodes.wire.learner_status import Metrics, hear_status
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import STEADY, Finished, run
from ompo_ros.nodes.wire.repeated_call import RepeatedCall
from ompo_ros.nodes.wire.run_end import RunEnd
from ompo_ros.reporting import progress
from ompo_ros.reporting.record import Episode, Judgement, RecordedEvaluation, Sample
from ompo_ros.reporting.report import write_report
from ompo_ros.reporting.resumption import keep_arguments
from ompo_ros.reporting.run_folder import RunFolder
from ompo_ros.reporting.verdict import verdict
from ompo_ros.to_launch import PROGRESS, is_drawn, say
from ompo_ros.transitions import InvalidData

_EVALUATION_PATIENCE = 600.0  # s without an evaluation's episode in which a failed one is asked for again
_EXPORT_PATIENCE = 10.0  # s that the learner's newest actor may take to become a policy; one may also be refused
_WAITING_PERIOD = 10.0  # s between two lines that say what the run waits for
_DRAWN_PERIOD = 1.0  # s between two lines of progress where the launch draws them


@dataclass
class _Wanted:
    """An evaluation to be had; of the episodes played so far, whether each succeeded."""

    what: str
    episodes: int
    then: Callable[[RecordedEvaluation | None], None]
    version: int
    since: float
    played: list[bool] = field(default_factory=list)


class RunManager(Node):
    """Commands record intent: each stage ends by starting the next one."""

    def __init__(self) -> None:
        super().__init__("run_manager", **OVERRIDES)
        given = declare(self, RunManagerParameters)
        self._identity = Identity(self, given.run_id)
        self._episodes_before, self._episodes_after = given.episodes_before, given.episodes_after
        self._settings = json.loads(given.settings)
        self._folder = RunFolder(Path(given.run_dir), given.target_steps)
        self._record = self._folder.record
        if self._folder.damage:
            self.get_logger().warning(self._folder.damage)
        self._began: float | None = None
        self._learner: LearnerStatus | None = None
        self._awaited = (0, 0.0)  # version of the actor whose policy is waited for, and since when
        self._latest = 0
        self._ending = self._unreported = False
        self._updates_due = 0
        self._missing = "the learner's status"
        self._next_waiting_line = time.monotonic() + _WAITING_PERIOD
        self._wanted: _Wanted | None = None
        self._evaluation = EvaluationClient(self, self._identity.run_id)
        self._judgement = JudgementClient(self)
        self._run_end = RunEnd(self, self._identity)
        self._enable = self.create_client(SetEnabled, "target_collector/set_enabled")
        ours = self._identity.only_ours
        hear_status(self, self._identity, self._on_status)
        self.create_subscription(EpisodeSummary, "target/episodes", ours(self._on_episode), qos.EPISODES)
        self.create_subscription(PolicyArtifact, "policy/latest", ours(self._on_policy, "policy/latest"), qos.LATCHED)
        self._progress_said = ""
        self.create_timer(_DRAWN_PERIOD if is_drawn() else given.progress_period, self._say_progress, clock=STEADY)
        self.create_timer(1.0, self._look_after_evaluation, clock=STEADY)
        self._start = self.create_timer(0.2, self._begin_when_all_are_there, clock=STEADY)

    # -- stages -------------------------------------------------------------------------------------------------

    def _begin_when_all_are_there(self) -> None:
        self._missing = self._find_missing()
        if self._missing:
            if time.monotonic() >= self._next_waiting_line and not is_drawn():
                self._next_waiting_line += _WAITING_PERIOD
                self.get_logger().info(f"waiting for {self._missing}")
            return
        self._start.cancel()
        if self._settings.get("resume") == "true":  # a new run's are kept by the launch file
            self._write(lambda: keep_arguments(self._folder.path, self._settings))
        RepeatedCall(self, self._enable, self._enabling).answer.add_done_callback(self._on_enabled)

    def _enabling(self) -> SetEnabled.Request:
        """A call with a signature of its own; one that comes again undoes no stop."""
        return enabling_request(True, self.resolve_topic_name("target_collector"), self._identity.run_id)

    def _find_missing(self) -> str:
        """What a run cannot begin without; above all a policy, since the arm would move at random."""
        if self._learner is None:
            return "the learner's status"
        if not self._evaluation.ready or not self._enable.service_is_ready():
            return "the target collector"
        if self._latest == 0:
            return "a policy from the policy server; the arm stays disabled without one"
        return "" if self._has_policy_of(self._learner.policy_version) else "the policy of the learner's newest actor"

    def _on_enabled(self, answer: Future) -> None:
        """The arm is on its way home; an evaluation asked for now comes before any exploration."""
        if not answer.result().success:
            self.get_logger().fatal(f"the target collector stays disabled: {answer.result().message}")
            raise SystemExit(2)
        if self._episodes_before and self._record.before is None and self._record.last is None:
            self.get_logger().info(f"evaluating the policy before adaptation, {self._episodes_before} episodes")
            self._play("the policy before adaptation", self._episodes_before, self._explore)
        else:
            self._explore(self._record.before)

    def _has_policy_of(self, actor: int) -> bool:
        """Whether an actor's policy is out, so that it is the one evaluated; False while there is hope for it."""
        if self._awaited[0] != actor:
            self._awaited = (actor, time.monotonic())
        return self._latest >= actor or time.monotonic() - self._awaited[1] > _EXPORT_PATIENCE

    def _explore(self, before: RecordedEvaluation | None) -> None:
        self._record.before = before
        self._write(self._folder.keep_evaluations)
        self.get_logger().info(f"before: {before or 'not evaluated'}")
        self._began = time.monotonic() - (self._record.last.seconds if self._record.last else 0.0)

    def _end(self) -> None:
        self._ending = True
        if not self._episodes_after:
            self._report(None)
            return
        self.get_logger().info(f"the run's steps are taken; evaluating the result, {self._episodes_after} episodes")
        self._play("the result", self._episodes_after, self._judge)

    def _judge(self, after: RecordedEvaluation | None) -> None:
        """Have the policy server put what was just evaluated on stable, if it passes; then report."""
        if after is None:
            self._report(None)
            return
        request = JudgePolicy.Request(
            run_id=self._identity.run_id,
            version=after.policy_version,
            episodes=after.episodes,
            successes=after.successes,
            mean_return=after.mean_return,
        )

        def on_judged(stable: bool, why: str) -> None:
            self._record.judgement = Judgement(stable, why)
            self._report(after)

        self._judgement.judge(request, on_judged)

    def _report(self, after: RecordedEvaluation | None) -> None:
        if after is not None or not self._episodes_after:
            self._record.after, self._record.finished = after, self._record.target_steps
        self.get_logger().info(f"after: {after or 'not evaluated'}")
        self.get_logger().info(verdict(self._record.before, self._record.after))
        if after is not None and self._record.judgement is not None:
            self.get_logger().info(f"policy {after.policy_version} {self._record.judgement}")
        self._write(lambda: self.get_logger().info(f"report: {write_report(self._folder, self._settings)}"))
        self._write(self._folder.keep_evaluations)
        self._unreported = False
        self._run_end.announce()
        raise Finished

    def _write(self, write: Callable[[], object]) -> None:
        """Write something of the run; a full or broken disk is reported and does not end the run."""
        try:
            write()
        except OSError as error:
            self.get_logger().error(f"cannot write to {self._folder.path}: {error}", throttle_duration_sec=10.0)

    def _play(self, what: str, episodes: int, then: Callable[[RecordedEvaluation | None], None]) -> None:
        """Have the target collector evaluate the newest policy, and go on with the result."""
        self._wanted = _Wanted(what, episodes, then, self._latest, time.monotonic())
        self._look_after_evaluation()

    def _look_after_evaluation(self) -> None:
        """Ask, and ask again: the collector may be playing for the policy server's gate."""
        self._evaluation.check()
        if self._wanted is not None and self._evaluation.ready:
            self._evaluation.evaluate(self._wanted.version, self._wanted.episodes, self._on_played)

    def _on_played(self, episodes: Episodes | None) -> None:
        wanted = self._wanted
        if wanted is None:
            return
        if episodes is None and time.monotonic() - wanted.since < _EVALUATION_PATIENCE:
            wanted.played.clear()
            return
        self._wanted = None
        if episodes is None:
            wanted.then(None)
            return
        successes = sum(success for success, _ in episodes)
        mean_return = sum(value for _, value in episodes) / len(episodes)
        wanted.then(RecordedEvaluation(wanted.version, successes, len(episodes), mean_return))

    # -- what comes in ------------------------------------------------------------------------------------------

    def _on_status(self, msg: LearnerStatus, metrics: Metrics) -> None:
        self._learner = msg
        due = metrics.get("updates_due", 0.0)
        self._updates_due = max(0, int(due)) if math.isfinite(due) else 0
        if self._wanted is not None and msg.state == LearnerStatus.PAUSED:
            self._wanted.since = time.monotonic()  # a pause costs an evaluation no patience
        if self._began is None:
            return
        sample = self._sample(msg, metrics, time.monotonic() - self._began)
        self._unreported = True
        self._write(lambda: self._folder.add_sample(sample))
        if msg.state == LearnerStatus.FINISHED and not self._ending and self._has_policy_of(msg.policy_version):
            self._end()

    def _sample(self, msg: LearnerStatus, metrics: Mapping[str, float], seconds: float) -> Sample:
        success, episode_return = self._record.now
        return Sample(
            seconds=seconds,
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

    def _on_policy(self, msg: PolicyArtifact) -> None:
        self._latest = int(msg.version)

    def _on_episode(self, msg: EpisodeSummary) -> None:
        try:
            check_episode(msg)
        except InvalidData as error:
            self.get_logger().error(f"episode refused: {error}")
            return
        dropped = msg.outcome == EpisodeSummary.DROPPED
        if self._wanted is not None and msg.deterministic and not dropped:
            self._wanted.since = time.monotonic()  # while another evaluation is played, ours waits
            if msg.policy_version == self._wanted.version:
                self._wanted.played.append(msg.success)
        if self._began is None or (msg.deterministic and not dropped):
            return
        episode = Episode(
            seconds=time.monotonic() - self._began,
            policy_version=msg.policy_version,
            steps=msg.steps,
            dropped=int(dropped),
            success=int(msg.success),
            episode_return=msg.episode_return,
        )
        self._write(lambda: self._folder.add_episode(episode))

    def _say_progress(self) -> None:
        """Say how it goes: where the launch draws it, each stage; in a file what changes slowly enough to be read."""
        now = self._progress()
        if is_drawn():
            say(PROGRESS + now.drawn)
        elif self._began is not None and not self._ending and now.plain != self._progress_said:
            self._progress_said = now.plain
            self.get_logger().info(now.plain)

    def _progress(self) -> progress.Progress:
        if self._missing:
            return progress.waiting(self._missing)
        if self._learner is not None and self._learner.state == LearnerStatus.PAUSED:
            return progress.paused(self._record)
        if self._wanted is not None:
            played = self._wanted.played
            return progress.evaluating(self._wanted.what, len(played), self._wanted.episodes, sum(played))
        return progress.exploring(self._record, self._updates_due)

    def destroy_node(self) -> None:
        """Leave what is known of a run that was ended from outside."""
        if self._unreported:
            self._write(lambda: write_report(self._folder, self._settings))
        super().destroy_node()


def main() -> None:
    """Manage one run, then end."""
    run(RunManager)


if __name__ == "__main__":
    main()
