"""The record of a run: episodes on the target, the learner's metrics, evaluations before and after."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

WINDOW = 20  # exploration episodes in the running success and return


@dataclass(frozen=True)
class RecordedEvaluation:
    """Deterministic episodes of one policy on the target."""

    policy_version: int
    successes: int
    episodes: int
    mean_return: float

    @property
    def success_rate(self) -> float:
        return self.successes / self.episodes if self.episodes else float("nan")

    def __str__(self) -> str:
        return f"{self.success_rate:.0%} of {self.episodes} episodes, return {self.mean_return:.2f}"


@dataclass(frozen=True)
class Sample:
    """One row of metrics.csv."""

    seconds: float  # since exploration began
    target_steps: int
    episodes: int
    success: float  # over the last exploration episodes
    episode_return: float
    updates: int
    updates_per_second: float
    source_steps: int
    policy_version: int
    r_local: float
    r_global: float


@dataclass(frozen=True)
class Episode:
    """One row of episodes.csv: an exploration episode on the target, whole or interrupted."""

    seconds: float  # since exploration began
    policy_version: int
    steps: int
    dropped: int  # 1: interrupted, 0: whole
    success: int  # 0 or 1
    episode_return: float


@dataclass
class RunRecord:
    """The data of the progress line and the report; its size does not grow with the run."""

    target_steps: int  # asked for
    before: RecordedEvaluation | None = None
    after: RecordedEvaluation | None = None
    finished: int = 0  # target steps of the run that `after` closed; 0: none was finished
    last: Sample | None = None
    episodes: int = 0
    dropped: int = 0
    _recent: deque[Episode] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _first: list[Episode] = field(default_factory=list)

    def add_episode(self, episode: Episode) -> None:
        """Count one episode on the target."""
        if episode.dropped:
            self.dropped += 1
            return
        self.episodes += 1
        self._recent.append(episode)
        if len(self._first) < WINDOW:
            self._first.append(episode)

    @property
    def now(self) -> tuple[float, float]:
        """Success rate and mean return of the latest exploration episodes."""
        return _means(self._recent)

    @property
    def at_start(self) -> tuple[float, float]:
        """Success rate and mean return of the first exploration episodes."""
        return _means(self._first)


def _means(episodes: Sequence[Episode]) -> tuple[float, float]:
    if not episodes:
        return float("nan"), float("nan")
    n = len(episodes)
    return sum(episode.success for episode in episodes) / n, sum(episode.episode_return for episode in episodes) / n


def progress_line(record: RunRecord) -> str:
    """One line that says how the run goes."""
    sample = record.last
    if sample is None:
        return "waiting for the first steps on the target"
    success, value = record.now
    first_success, first_value = record.at_start
    pace = sample.target_steps / sample.seconds if sample.seconds > 0 else 0.0
    to_go = max(record.target_steps - sample.target_steps, 0)
    left = to_go / pace if pace > 0 and record.target_steps else float("nan")
    return (
        f"{sample.target_steps}/{record.target_steps or '∞'} steps, {record.episodes} episodes | "
        f"success {success:.0%} (first {first_success:.0%}), return {value:.2f} (first {first_value:.2f}) | "
        f"R gap {sample.r_local - sample.r_global:+.2f} | {sample.updates_per_second:.0f} updates/s | "
        f"policy {sample.policy_version} | {_clock(left)} left"
    )


def _clock(seconds: float) -> str:
    return "?" if seconds != seconds else f"{int(seconds // 60)}:{int(seconds % 60):02d}"
