"""What a run was like, as it goes: episodes on the target, the learner's figures, evaluations before and after."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WINDOW = 20  # exploration episodes behind the running success and return


@dataclass(frozen=True)
class Evaluation:
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


@dataclass
class RunRecord:
    """Everything the progress line, the curves and the report are made from."""

    target_steps: int  # asked for
    before: Evaluation | None = None
    after: Evaluation | None = None
    samples: list[Sample] = field(default_factory=list)
    episodes: int = 0
    dropped: int = 0
    _recent: deque[tuple[bool, float]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _first: list[tuple[bool, float]] = field(default_factory=list)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], target_steps: int) -> RunRecord:
        """Go on with what `to_dict` gave, towards other target steps perhaps."""
        record = cls(target_steps, episodes=values["episodes"], dropped=values["dropped"])
        record.before = Evaluation(**values["before"]) if values["before"] else None
        record.samples = [Sample(*row) for row in values["samples"]]
        record._recent.extend(tuple(episode) for episode in values["recent"])
        record._first.extend(tuple(episode) for episode in values["first"])
        return record

    def to_dict(self) -> dict[str, Any]:
        """All that a resumed run goes on with."""
        return {
            "before": dataclasses.asdict(self.before) if self.before else None,
            "episodes": self.episodes,
            "dropped": self.dropped,
            "recent": list(self._recent),
            "first": self._first,
            "samples": [dataclasses.astuple(sample) for sample in self.samples],
        }

    def add_episode(self, success: bool, episode_return: float) -> None:
        """Count one exploration episode of the target."""
        self.episodes += 1
        self._recent.append((success, episode_return))
        if len(self._first) < WINDOW:
            self._first.append((success, episode_return))

    @property
    def now(self) -> tuple[float, float]:
        """Success rate and mean return of the latest exploration episodes."""
        return _means(self._recent)

    @property
    def at_start(self) -> tuple[float, float]:
        """Success rate and mean return of the first exploration episodes."""
        return _means(self._first)


def _means(episodes: deque[tuple[bool, float]] | list[tuple[bool, float]]) -> tuple[float, float]:
    if not episodes:
        return float("nan"), float("nan")
    n = len(episodes)
    return sum(success for success, _ in episodes) / n, sum(value for _, value in episodes) / n


def progress_line(record: RunRecord) -> str:
    """One line that tells how the run goes."""
    if not record.samples:
        return "waiting for the first steps on the target"
    sample = record.samples[-1]
    success, value = record.now
    first_success, first_value = record.at_start
    pace = sample.target_steps / sample.seconds if sample.seconds > 0 else 0.0
    left = (record.target_steps - sample.target_steps) / pace if pace > 0 and record.target_steps else float("nan")
    return (
        f"{sample.target_steps}/{record.target_steps or '∞'} steps, {record.episodes} episodes | "
        f"success {success:.0%} (first {first_success:.0%}), return {value:.2f} (first {first_value:.2f}) | "
        f"R gap {sample.r_local - sample.r_global:+.2f} | {sample.updates_per_second:.0f} updates/s | "
        f"policy {sample.policy_version} | {_clock(left)} left"
    )


def _clock(seconds: float) -> str:
    return "?" if seconds != seconds else f"{int(seconds // 60)}:{int(seconds % 60):02d}"
