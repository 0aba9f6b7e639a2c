"""Recorded commands, and the driver's motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ompo_ros.experiments.campaign.limits import Array

TICK = 1e-3  # s between two samples of the motion: the rate of the arm's own controller


@dataclass(frozen=True)
class Point:
    """One point of a command: seconds from its start, and what it asks of each joint (7,)."""

    offset: float
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


@dataclass(frozen=True)
class Command:
    """One message: when it came (s, monotonic), its points, when it starts (s, None: at once), its number."""

    received: float
    points: tuple[Point, ...]
    starts: float | None = None
    number: int = 0


@dataclass(frozen=True)
class Motion:
    """The reference of an arm at 1 kHz: times (n,), positions and velocities (n, 7)."""

    times: Array
    positions: Array
    velocities: Array

    def speed_at(self, time: float) -> float:
        """Norm of the joints' velocities; rest before the first and after the last sample."""
        index = int(np.searchsorted(self.times, time, side="right")) - 1
        if index < 0 or time > self.times[-1] + TICK:
            return 0.0
        return float(np.linalg.norm(self.velocities[index]))

    def top_speed_between(self, begin: float, end: float) -> float:
        """The greatest speed from `begin` to `end`."""
        inside = (self.times >= begin) & (self.times <= end)
        return float(np.linalg.norm(self.velocities[inside], axis=1).max(initial=0.0))
