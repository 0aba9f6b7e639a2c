"""The observer's recording, one JSON object per line, and the judge's reader of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import Array

COMMAND, STATE, STATUS = "command", "state", "status"
_TAIL = 1 << 16  # bytes, some seconds of a run
_NEAR = 1.0  # s that a message may take to arrive on a busy machine

_THERE = 1.0  # s before the first command from which an observer certainly hears everything
_UNMOVED = 2e-3  # rad; an arm that moves less during that time stands
_STILL = 1e-6  # rad, rad/s


@dataclass
class Recording:
    """A recorded run; all times in seconds of the observer's monotonic clock."""

    commands: list[Command] = field(default_factory=list)
    states: list[tuple[float, Array]] = field(default_factory=list)
    target_steps: list[tuple[float, int]] = field(default_factory=list)
    cuts: Sequence[tuple[float, float]] = ()  # when the network was cut

    def motions_between(self, begin: float, end: float) -> list[tuple[list[Command], Array]]:
        """The commands of one launch and the arm's position before them, in pieces without missed commands.

        An observer that was not there before the arm began to move judges from its first rest on. So does one that
        missed commands although the network was there: the driver may have heard them.
        """
        pieces: list[list[Command]] = []
        for command in (command for command in self.commands if begin <= command.received < end):
            if not pieces or self.missed(pieces[-1][-1], command):
                pieces.append([])
            pieces[-1].append(command)
        starts = [self._stood(piece, begin) for piece in pieces[:1]] + [None for _ in pieces[1:]]
        found = [
            _from_rest(piece) if start is None else (piece, start) for piece, start in zip(pieces, starts, strict=True)
        ]
        return [(piece, start) for piece, start in found if start is not None]

    def missed(self, before: Command, after: Command) -> int:
        """Commands between two that the observer alone may have missed: none while the network was cut for all."""
        cut = any(begin <= after.received and before.received <= end for begin, end in self.cuts)
        return 0 if cut else max(after.number - before.number - 1, 0)

    def _stood(self, commands: Sequence[Command], begin: float) -> Array | None:
        """The arm's rest position before the first command, if the observer saw it at rest."""
        first = commands[0].received
        heard = [(time, position) for time, position in self.states if begin <= time <= first]
        before = [position for time, position in heard if time <= first - _THERE]
        return heard[-1][1] if before and np.abs(heard[-1][1] - before[-1]).max() < _UNMOVED else None


def _from_rest(commands: list[Command]) -> tuple[list[Command], Array | None]:
    """The commands from the first one without motion on."""
    rest = next((index for index in range(1, len(commands)) if _rests(*commands[index - 1 : index + 1])), None)
    return ([], None) if rest is None else (commands[rest:], commands[rest].points[0].position)


def _rests(before: Command, command: Command) -> bool:
    """Whether a command asks for no motion: the same setpoint as before, or points without velocity."""
    velocities = [point.velocity for point in command.points if point.velocity is not None]
    if velocities:
        return float(np.abs(velocities).max()) < _STILL
    return float(np.abs(command.points[0].position - before.points[0].position).max()) < _STILL


@dataclass(frozen=True)
class Disturbances:
    """The clock's offsets (s) during the campaign, and the times when the network was cut."""

    offsets: Sequence[float] = ()
    cuts: Sequence[tuple[float, float]] = ()

    def on_our_clock(self, stamp: float, received: float) -> float:
        """A sender's time, corrected by the offset that puts it nearest to its arrival."""
        return min((stamp - offset for offset in (0.0, *self.offsets)), key=lambda time: abs(time - received))

    def arrival(self, sent: float, received: float) -> float:
        """When a driver gets a message: at once, unless the network was cut; our own waits for a core do not count."""
        sent = self.on_our_clock(sent, received)
        held_up = any(begin <= received and sent <= end for begin, end in self.cuts)
        return received if held_up or not 0.0 <= received - sent < _NEAR else sent


def read_recording(path: Path, disturbances: Disturbances) -> Recording:
    """Read the recording of a run's observer."""
    recording = Recording(cuts=disturbances.cuts)
    readers: dict[str, Callable[[dict[str, Any]], None]] = {
        COMMAND: lambda row: recording.commands.append(_command(row, disturbances)),
        STATE: lambda row: recording.states.append((row["time"], np.array(row["position"]))),
        STATUS: lambda row: recording.target_steps.append((row["time"], row["target_steps"])),
    }
    for row in _rows(path):
        readers[row["kind"]](row)
    return recording


def moves_since(path: Path, time: float) -> bool:
    """Whether the observer has heard a command after a moment; looks at the end of its file only."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        lines = file.read().split(b"\n")[1:-1]
    return any(row["kind"] == COMMAND and row["time"] > time for row in map(json.loads, reversed(lines)))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines only: the observer may still be writing the last one."""
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _command(row: dict[str, Any], disturbances: Disturbances) -> Command:
    points = tuple(
        Point(point["offset"], np.array(point["position"]), _array(point["velocity"]), _array(point["acceleration"]))
        for point in row["points"]
    )
    received, stamp = row["time"], row["stamp"]
    starts = None if stamp is None else disturbances.on_our_clock(stamp, received)
    return Command(disturbances.arrival(row["sent"], received), points, starts, row["number"])


def _array(values: list[float]) -> Array | None:
    return np.array(values) if values else None
