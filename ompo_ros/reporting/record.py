"""The record of a run: episodes on the target, the learner's metrics, evaluations before and after."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ompo_ros.task.tasks import CONTROL_RATE

WINDOW = 20  # exploration episodes in the running success and return


def column(text: str) -> Any:  # noqa: ANN401 - as dataclasses.field
    """A field that is a column of a table, with what it means."""
    return field(metadata={"text": text})


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
class Judgement:
    """What the policy server's gate made of the run's last evaluation."""

    stable: bool
    reason: str

    def __str__(self) -> str:
        return f"is stable: {self.reason}" if self.stable else f"is not stable: {self.reason}"


@dataclass(frozen=True)
class Sample:
    """One row of metrics.csv."""

    seconds: float = column("Seconds since exploration began; an interruption is not counted.")
    target_steps: int = column("Steps on the target that the learner has taken in.")
    episodes: int = column("Exploration episodes finished on the target.")
    success: float = column(f"Share of the last {WINDOW} exploration episodes that ended at the goal; nan before any.")
    episode_return: float = column(f"Mean return of the last {WINDOW} exploration episodes.")
    updates: int = column("Gradient updates made.")
    updates_per_second: float = column("Gradient updates per second, over the last seconds.")
    source_steps: int = column("Steps of simulated arms that the learner has taken in.")
    policy_version: int = column("Newest weights that the learner has published.")
    r_local: float = column("Mean R, the discriminator's log density ratio, on recent target steps; nan before any.")
    r_global: float = column("Mean R on all steps in the buffer. r_local - r_global is the gap that is left.")


@dataclass(frozen=True)
class Episode:
    """One row of episodes.csv: an exploration episode on the target, whole or interrupted."""

    seconds: float = column("Seconds since exploration began, when the episode ended.")
    policy_version: int = column("Policy at its last step.")
    steps: int = column("Steps it took.")
    dropped: int = column("1: interrupted and not learned from, 0: whole.")
    success: int = column("1: ended at the goal, 0: did not.")
    episode_return: float = column("Sum of its rewards, undiscounted.")


@dataclass
class RunRecord:
    """The data of progress and report; its size does not grow with the run."""

    target_steps: int  # asked for
    before: RecordedEvaluation | None = None
    after: RecordedEvaluation | None = None
    finished: int = 0  # target steps of the run that `after` closed; 0: none was finished
    judgement: Judgement | None = None  # of what was evaluated after the run, by this process
    last: Sample | None = None
    episodes: int = 0
    dropped: int = 0
    moved: float = 0.0  # s in whole exploration episodes
    between: float = 0.0  # s of all else from the start of exploration to the end of the last whole one
    _recent: deque[Episode] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _first: list[Episode] = field(default_factory=list)

    def add_episode(self, episode: Episode) -> None:
        """Count one episode on the target."""
        if episode.dropped:
            self.dropped += 1
            return
        self.episodes += 1
        self.moved += episode.steps / CONTROL_RATE
        self.between = episode.seconds - self.moved
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
