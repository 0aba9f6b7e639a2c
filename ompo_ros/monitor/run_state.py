"""What the page knows of a run: the newest of everything, and what follows from it. Times are monotonic seconds."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ompo_ros.monitor.history import History, Recent
from ompo_ros.words import FILTERED, LEARNER_STATES

WAITING, TRAINING, PAUSED, FINISHED = range(4)  # the learner's states, as in LearnerStatus
_STATES_SILENT: Final = 2.0  # s without a joint state after which what is shown is old
_ARM_SILENT: Final = 5.0  # s without a report of the node that moves the arm
_LEARNER_SILENT: Final = 8.0  # s; it may be writing a checkpoint
_RATE_WINDOW: Final = 60.0  # s over which the pace of the run is taken
_EPISODES: Final = 10  # that success and return are averaged over


class Learner(NamedTuple):
    """How learning goes."""

    state: int
    target_steps: int
    updates: int
    updates_per_second: float
    policy_version: int
    r_local: float
    r_global: float


class PolicyRow(NamedTuple):
    """A policy of the registry."""

    version: int
    channels: tuple[str, ...]
    pinned: bool
    success_rate: float  # NaN where it was not evaluated
    episodes: int
    note: str


class Belief(NamedTuple):
    """What the sources take the arm to be."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    command_delay: int
    error: float
    prior_error: float
    target_steps: int


class Line(NamedTuple):
    """A line of the log, or an answer to a press."""

    clock: str  # hh:mm:ss
    who: str
    text: str
    good: bool


@dataclass
class RunState:
    """Everything the panels show; the node puts in what it hears."""

    target_steps: int = 0  # after which the run ends; 0: never
    learner: Learner | None = None
    phase: str = ""  # of the node that moves the arm
    problem: str = ""
    running_version: int = 0
    policies: tuple[PolicyRow, ...] = ()
    belief: Belief | None = None
    truth: Mapping[str, Sequence[str]] = field(default_factory=dict)  # a stand-in's parameters, as texts
    over: bool = False
    evaluation: str = ""  # progress of the one this page asked for
    warnings: deque[Line] = field(default_factory=lambda: deque(maxlen=8))
    answers: deque[Line] = field(default_factory=lambda: deque(maxlen=6))

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self.success, self.episode_return = History(2), History(1)
        self.r, self.updates, self.late = History(2), History(1), History(1)
        self.filtered: dict[str, History] = {}
        self._exploring, self._evaluated, self._returns = Recent(_EPISODES), Recent(_EPISODES), Recent(_EPISODES)
        self._heard = {"joint states": -math.inf, "arm": -math.inf, "learner": -math.inf}
        self._paces: deque[tuple[float, int]] = deque()
        self._counts: dict[str, int] = {}
        self.evaluating = False

    # -- what comes in ------------------------------------------------------------------------------------------

    def hear_joint_state(self, now: float) -> None:
        self._heard["joint states"] = now

    def hear_learner(self, learner: Learner, now: float) -> None:
        """Take in a status of the learner."""
        self._heard["learner"], self.learner = now, learner
        minutes = self._minutes(now)
        if math.isfinite(learner.r_local) and math.isfinite(
            learner.r_global
        ):  # not before the discriminator's first round
            self.r.add(minutes, learner.r_local, learner.r_global)
        self.updates.add(minutes, learner.updates_per_second)
        self._paces.append((now, learner.target_steps))
        while now - self._paces[0][0] > _RATE_WINDOW:
            self._paces.popleft()

    def hear_episode(self, success: bool, episode_return: float, deterministic: bool, now: float) -> None:
        """Take in a whole episode of the arm."""
        minutes, self.evaluating = self._minutes(now), deterministic
        rate = (self._evaluated if deterministic else self._exploring).add(100.0 * success)
        self.success.add(minutes, *((math.nan, rate) if deterministic else (rate, math.nan)))
        self.episode_return.add(minutes, self._returns.add(episode_return))

    def hear_arm(self, phase: str, problem: str, figures: Mapping[str, str], now: float) -> None:
        """Take in a report of the node that moves the arm."""
        self._heard["arm"], self.phase, self.problem = now, phase, problem
        counts = {name: int(value) for name, value in figures.items() if value.isdigit()}
        self.running_version = counts.get("policy_version", 0)
        ticks, calls = self._more(counts, "ticks"), self._more(counts, "filter_calls")
        minutes = self._minutes(now)
        if ticks > 0:
            self.late.add(minutes, 100.0 * self._more(counts, "late_ticks") / ticks)
        for name in counts:
            if name.startswith(FILTERED) and calls > 0:
                curve = self.filtered.setdefault(name.removeprefix(FILTERED), History(1))
                curve.add(minutes, 100.0 * self._more(counts, name) / calls)
        self._counts = counts

    def warn(self, who: str, text: str) -> None:
        """Keep a warning of the log; one that repeats the last keeps its place."""
        if self.warnings and self.warnings[-1][1:3] == (who, text):
            self.warnings.pop()
        self.warnings.append(Line(_clock(), who, text, False))

    def answer(self, what: str, text: str, good: bool) -> None:
        """Keep what came of a press."""
        self.answers.append(Line(_clock(), what, text, good))

    # -- what follows -------------------------------------------------------------------------------------------

    def stage(self) -> str:
        """Where the run is, in a few words."""
        learner = self.learner
        if self.over:
            return "the run is over"
        if learner is None:
            return self.phase or "waiting for the arm's node"
        if learner.state == PAUSED:
            return "learning is paused"
        if self.evaluating and self.phase == "playing an episode":
            return "evaluating a policy"
        if learner.state == FINISHED:
            return "evaluating the result"
        return f"{LEARNER_STATES[learner.state]}; arm: {self.phase or 'silent'}"

    def progress(self) -> float:
        """The share of the run's steps that are taken, 0 to 1; 0 for an endless one."""
        steps = self.learner.target_steps if self.learner else 0
        return min(1.0, steps / self.target_steps) if self.target_steps else 0.0

    def time_left(self) -> float | None:
        """Seconds until the run's steps are taken, by its pace in the last minute; None where that says nothing."""
        if not self.target_steps or len(self._paces) < 2:
            return None
        (since, before), (now, steps) = self._paces[0], self._paces[-1]
        left, pace = self.target_steps - steps, (steps - before) / max(now - since, 1e-3)
        return left / pace if left > 0 and pace > 0.0 else None

    def lost(self, now: float) -> str:
        """Why what the page shows is old, or empty."""
        silence = {name: now - heard for name, heard in self._heard.items()}
        if silence["joint states"] > _STATES_SILENT and silence["arm"] > _ARM_SILENT:
            return f"the robot and its node are silent{_since(silence['joint states'])}"
        if silence["joint states"] > _STATES_SILENT:
            return f"no joint states{_since(silence['joint states'])}"
        if silence["arm"] > _ARM_SILENT:
            return f"the node that moves the arm is silent{_since(silence['arm'])}"
        return ""

    def concern(self, now: float) -> str:
        """What is wrong although the arm is heard, or empty."""
        silence = now - self._heard["learner"]
        if self.learner is not None and not self.over and silence > _LEARNER_SILENT:
            return f"the learner is silent{_since(silence)}"
        return self.problem

    def _more(self, counts: Mapping[str, int], name: str) -> int:
        """By how much a counter went up since the last report; its node may have been started anew."""
        return max(0, counts.get(name, 0) - self._counts.get(name, 0)) if self._counts else 0

    def _minutes(self, now: float) -> float:
        return (now - self.began) / 60.0


def _since(seconds: float) -> str:
    return f" for {seconds:.0f} s" if math.isfinite(seconds) else " so far"


def _clock() -> str:
    return time.strftime("%H:%M:%S")
