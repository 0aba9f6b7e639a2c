"""A motion that has been decided: positions, velocities and accelerations over time, from its first knot to rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ompo_ros.domains.kinematics import FloatArray

_NEXT: Final = 1e-6  # s


@dataclass(frozen=True)
class Moment:
    """Where a motion is at one time: seconds of the caller's clock, and (7,) rad, rad/s, rad/s^2."""

    time: float
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


@dataclass(frozen=True)
class Plan:
    """Knots with constant jerk between them; before the first the arm is on its way there, after the last it rests."""

    times: FloatArray  # (n,)
    positions: FloatArray  # (n, 7)
    velocities: FloatArray
    accelerations: FloatArray

    @staticmethod
    def of(knots: list[Moment]) -> Plan:
        return Plan(
            np.array([knot.time for knot in knots]),
            np.array([knot.position for knot in knots]),
            np.array([knot.velocity for knot in knots]),
            np.array([knot.acceleration for knot in knots]),
        )

    @property
    def start(self) -> float:
        return float(self.times[0])

    @property
    def end(self) -> float:
        return float(self.times[-1])

    def at(self, time: float) -> Moment:
        """The motion at one time."""
        positions, velocities, accelerations = self.sample(np.array([time]))
        return Moment(time, positions[0], velocities[0], accelerations[0])

    def sample(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations (n, 7) at `times` (n,)."""
        at = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 1)
        after = np.minimum(at + 1, len(self.times) - 1)
        span = np.maximum(self.times[after] - self.times[at], 1e-12)[:, None]
        t = np.clip(times - self.times[at], 0.0, None)[:, None]
        a = self.accelerations[at]
        jerk = (self.accelerations[after] - a) / span
        velocities = self.velocities[at] + t * (a + t * jerk / 2.0)
        positions = self.positions[at] + t * (self.velocities[at] + t * (a / 2.0 + t * jerk / 6.0))
        resting = (times >= self.end)[:, None]
        return (
            np.where(resting, self.positions[-1], positions),
            np.where(resting, 0.0, velocities),
            np.where(resting, 0.0, a + t * jerk),
        )

    def shifted(self, seconds: float) -> Plan:
        """The same motion at another time."""
        return replace(self, times=self.times + seconds)

    def between(self, start: float, end: float) -> list[Moment]:
        """The knots after `start` and before `end`, none nearer to them than a message can say."""
        chosen = np.flatnonzero((self.times > start + _NEXT) & (self.times < end - _NEXT))
        return [
            Moment(float(self.times[i]), self.positions[i], self.velocities[i], self.accelerations[i]) for i in chosen
        ]
