"""Transitions and demonstrations of recordings, for a new run with the same contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ompo_ros.recording.reader import Recording, UnusableRecording, recording_files
from ompo_ros.task.contract import Contract, first_difference
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData, Origin, Transitions


def recorded_transitions(
    paths: Iterable[Path], contract: Contract, warn: Callable[[str], object]
) -> Iterator[Transitions]:
    """The transitions of recordings in order, with their origins.

    UnusableRecording is raised before the first one. Damage and left out batches are reported by `warn`.
    """
    recordings = [Recording(file) for path in paths for file in recording_files(path)]
    for recording in recordings:
        if difference := first_difference(recording.contract, contract):
            raise UnusableRecording(f"{recording.path} is of another contract than this run: {difference}")
    return _transitions(recordings, contract, warn)


def recorded_demonstrations(
    paths: Iterable[Path], task: Task, contract: Contract, warn: Callable[[str], object]
) -> Iterator[Transitions]:
    """The successful episodes of an arm in recordings, by whomever, as demonstrations.

    A collector sends an episode as one batch, so its last row tells success.
    """
    for transitions in recorded_transitions(paths, contract, warn):
        if transitions.origin is not Origin.SOURCE and task.is_success(transitions.next_obs[-1]):
            yield replace(transitions, origin=Origin.DEMONSTRATION)


def _transitions(
    recordings: list[Recording], contract: Contract, warn: Callable[[str], object]
) -> Iterator[Transitions]:
    for recording in recordings:
        impossible = 0
        for batch in recording.batches():
            try:
                contract.bounds.check(batch.transitions)
            except InvalidData:
                impossible += 1
                continue
            yield batch.transitions
        if recording.damage:
            warn(f"{recording.path}: {recording.damage}")
        if left_out := recording.refused + impossible:
            warn(f"{recording.path}: {left_out} batches left out: damaged, impossible, or of another run")
