"""Recordings for other programs: transitions as .npz, joint motion as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.files import write_whole
from ompo_ros.recording.cdr import BrokenMessage, CdrReader
from ompo_ros.recording.reader import JOINT_STATE, Recording, UnusableRecording
from ompo_ros.transitions import Transitions

_PARTS: Final = ("position", "velocity")


@dataclass(frozen=True)
class JointSample:
    """One joint state."""

    stamp: int  # ns, of its header
    names: list[str]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]


def write_npz(recordings: Iterable[Recording], path: Path) -> int:
    """Write all transitions as arrays, with their contract; returns their number."""
    contract, parts = "", []
    for recording in recordings:
        contract = recording.contract.to_json()
        parts += [batch.transitions for batch in recording.batches()]
    if not parts:
        raise UnusableRecording("there are no transitions to extract")
    columns = {
        field.name: np.concatenate([_column(part, field.name) for part in parts]) for field in fields(Transitions)
    }
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, contract=np.array(contract), **columns)
    write_whole(path, content.getvalue())
    return len(columns["reward"])


def _column(part: Transitions, name: str) -> NDArray[Any]:
    if name == "origin":
        return np.full(len(part), int(part.origin), np.uint8)
    if name == "command" and part.command is None:
        return np.full_like(part.action, np.nan)
    return np.asarray(getattr(part, name))


def write_joint_csv(recordings: Iterable[Recording], path: Path) -> int:
    """Write a row per joint state: time in s, positions, velocities; returns the number of rows."""
    content, rows = io.StringIO(), 0
    writer = csv.writer(content, lineterminator="\n")
    names: list[str] = []
    for sample in joint_samples(recordings):
        if not names:
            names = sample.names
            writer.writerow(["time", *(f"{part}.{name}" for part in _PARTS for name in names)])
        if sample.names == names:  # another robot may use the same topic
            writer.writerow([f"{sample.stamp / 1e9:.9f}", *sample.position.tolist(), *_padded(sample.velocity, names)])
            rows += 1
    if not rows:
        raise UnusableRecording("there are no joint states to extract")
    write_whole(path, content.getvalue().encode())
    return rows


def joint_samples(recordings: Iterable[Recording]) -> Iterator[JointSample]:
    """All valid joint states, in order."""
    for recording in recordings:
        for message in recording.messages():
            if message.kind != JOINT_STATE or recording.is_command(message):
                continue
            try:
                sample = joint_sample(message.data)
            except BrokenMessage:
                continue
            if len(sample.position) == len(sample.names):
                yield sample


def joint_sample(data: bytes) -> JointSample:
    """Read one message; BrokenMessage where it is none."""
    reader = CdrReader(data)
    stamp, _ = reader.stamp(), reader.text()
    return JointSample(stamp, reader.texts(), reader.array("<f8"), reader.array("<f8"))


def _padded(velocity: NDArray[np.float64], names: list[str]) -> list[float | str]:
    """Velocities, or empty cells where a broadcaster sends none."""
    return velocity.tolist() if len(velocity) == len(names) else [""] * len(names)
