"""What the observer writes down, one JSON object a line, and how the judge reads it back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import Array

COMMAND, STATE, STATUS = "command", "state", "status"
_NEAR = 1.0  # s that a message's stamp may differ from its arrival, on the clock it was stamped by


@dataclass
class Recording:
    """A run as the observer heard it; all times in seconds of its monotonic clock."""

    commands: list[Command] = field(default_factory=list)
    states: list[tuple[float, Array]] = field(default_factory=list)
    target_steps: list[tuple[float, int]] = field(default_factory=list)

    def commands_between(self, begin: float, end: float) -> list[Command]:
        """The commands of one launch."""
        return [command for command in self.commands if begin <= command.received < end]

    def position_before(self, time: float) -> Array | None:
        """Where the arm was last measured before a moment."""
        before = [position for measured, position in self.states if measured <= time]
        return before[-1] if before else None


def read_recording(path: Path, offsets: list[float]) -> Recording:
    """Read a recording; `offsets` are those by which the run's clock was ever set forward (s)."""
    recording = Recording()
    readers: dict[str, Callable[[dict[str, Any]], None]] = {
        COMMAND: lambda row: recording.commands.append(_command(row, offsets)),
        STATE: lambda row: recording.states.append((row["time"], np.array(row["position"]))),
        STATUS: lambda row: recording.target_steps.append((row["time"], row["target_steps"])),
    }
    for row in _rows(path):
        readers[row["kind"]](row)
    return recording


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines only: the observer may be at the last one."""
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _command(row: dict[str, Any], offsets: list[float]) -> Command:
    points = tuple(
        Point(point["offset"], np.array(point["position"]), _array(point["velocity"]), _array(point["acceleration"]))
        for point in row["points"]
    )
    return Command(row["time"], points, _start(row["stamp"], row["time"], offsets))


def _start(stamp: float, received: float, offsets: list[float]) -> float | None:
    """A stamp on the observer's clock: of the offsets the sender's clock ever had, the one that fits its arrival."""
    if stamp == 0.0:
        return None
    start = min((stamp - offset for offset in [0.0, *offsets]), key=lambda start: abs(start - received))
    return start if abs(start - received) < _NEAR else stamp


def _array(values: list[float]) -> Array | None:
    return np.array(values) if values else None
