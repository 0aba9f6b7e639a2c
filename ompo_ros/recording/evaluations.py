"""The evaluations of a recorded run: how the arm moved, and for which goals."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ompo_ros.recording.batches import KIND, batch_from_bytes
from ompo_ros.recording.cdr import BrokenMessage, CdrReader
from ompo_ros.recording.extract import joint_sample
from ompo_ros.recording.reader import JOINT_STATE, RecordedMessage, Recording, UnusableRecording
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import InvalidData, Origin

EPISODE: Final = "ompo_msgs/msg/EpisodeSummary"
_POINT: Final = "geometry_msgs/msg/PointStamped"
_GOALS: Final = "/target/goal"
_CUBES: Final = "/cube"
_DROPPED: Final = 2  # EpisodeSummary.outcome
_SAME: Final = 1e-6  # m between two goals that are one
FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class PlayedEvaluation:
    """One episode without exploration, from its beginning to its end: n control periods."""

    goal: FloatArray  # (3,)
    positions: FloatArray  # (n + 1, 7)
    cubes: FloatArray | None  # (n + 1, 3)
    policy_version: int


@dataclass(frozen=True)
class Comparison:
    """The same goals with the first and with the last policy that was evaluated."""

    before: list[PlayedEvaluation]
    after: list[PlayedEvaluation]
    steps: int  # of exploration between them


def first_and_last(recordings: Iterable[Recording], goals: int) -> Comparison:
    """Both evaluations of a run, for as many goals as are asked for and present in both."""
    tape = _Tape()
    for recording in recordings:
        contract = recording.contract
        for message in recording.messages():
            if recording.is_command(message):
                continue
            try:
                tape.hear(message, contract)
            except (BrokenMessage, InvalidData):
                continue
    groups = tape.evaluations
    if len(groups) < 2:
        raise UnusableRecording(
            f"a picture needs evaluations before and after the run, {len(groups)} of these two are in the recording"
        )
    first, last = groups[0], groups[-1]
    pairs = [(a, b) for a in first.played for b in last.played if np.abs(a.goal - b.goal).max() < _SAME][:goals]
    if not pairs:
        raise UnusableRecording("the first and the last evaluation have no goal in common")
    return Comparison([a for a, _ in pairs], [b for _, b in pairs], last.explored - first.explored)


@dataclass
class _Evaluation:
    """Consecutive episodes of one policy."""

    policy_version: int
    explored: int  # steps before it
    played: list[PlayedEvaluation] = field(default_factory=list)


@dataclass
class _Track:
    """Timed values of one topic."""

    times: list[int] = field(default_factory=list)  # ns
    values: list[NDArray[Any]] = field(default_factory=list)

    def add(self, time: int, value: NDArray[Any]) -> None:
        self.times.append(time)
        self.values.append(value)

    def at(self, time: int) -> NDArray[Any] | None:
        """The last value until then."""
        place = bisect.bisect_right(self.times, time)
        return self.values[place - 1] if place else None


class _Tape:
    """Hears a recording from its beginning."""

    def __init__(self) -> None:
        self.evaluations: list[_Evaluation] = []
        self._explored = 0
        self._arm, self._goals, self._cubes = _Track(), _Track(), _Track()

    def hear(self, message: RecordedMessage, contract: Contract) -> None:
        if message.kind == JOINT_STATE:
            sample = joint_sample(message.data)
            if set(contract.joint_names) <= set(sample.names) and len(sample.names) == len(sample.position):
                order = [sample.names.index(name) for name in contract.joint_names]
                self._arm.add(message.received, sample.position[order])
        elif message.kind == _POINT and message.topic.endswith((_GOALS, _CUBES)):
            track = self._goals if message.topic.endswith(_GOALS) else self._cubes
            track.add(message.received, _point(message.data))
        elif message.kind == KIND:
            transitions = batch_from_bytes(message.data).transitions
            self._explored += len(transitions) if transitions.origin is Origin.TARGET else 0
        elif message.kind == EPISODE:
            self._hear_episode(message, contract)

    def _hear_episode(self, message: RecordedMessage, contract: Contract) -> None:
        summary = _Summary(message.data)
        if summary.origin != Origin.TARGET or summary.outcome == _DROPPED or not summary.deterministic:
            return
        if not self.evaluations or self.evaluations[-1].policy_version != summary.policy_version:
            self.evaluations.append(_Evaluation(summary.policy_version, self._explored))
        period = round(1e9 / contract.control_rate)
        times = [message.received - period * back for back in range(summary.steps, -1, -1)]
        goal = self._goals.at(times[len(times) // 2])  # at the end it may be the next one's
        positions, cubes = ([track.at(time) for time in times] for track in (self._arm, self._cubes))
        if goal is None or any(position is None for position in positions):
            return  # it began before the recording
        moved = None if any(cube is None for cube in cubes) else np.array(cubes)
        self.evaluations[-1].played.append(PlayedEvaluation(goal, np.array(positions), moved, summary.policy_version))


class _Summary:
    """What is needed of an EpisodeSummary."""

    def __init__(self, data: bytes) -> None:
        reader = CdrReader(data)
        reader.stamp(), reader.text(), reader.text()
        self.origin, self.outcome = reader.number("B"), reader.number("B")
        _, self.steps = reader.number("I"), reader.number("I")
        reader.real()
        _, self.deterministic = reader.number("B"), bool(reader.number("B"))
        self.policy_version = reader.number("I")


def _point(data: bytes) -> FloatArray:
    reader = CdrReader(data)
    reader.stamp(), reader.text()
    return np.array([reader.real() for _ in range(3)])
