"""A motion that has been decided: positions, velocities and accelerations over time, from its first knot to rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray

_NEXT: Final = 1e-6  # s


@dataclass(frozen=True)
class Moment:
    """A motion's state at one time: seconds of the caller's clock, and (7,) rad, rad/s, rad/s^2."""

    time: float
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


@dataclass(frozen=True)
class Plan:
    """Knots with constant jerk between them; the arm moves to the first one and rests at the last."""

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
        still = np.zeros_like(self.positions[0])
        if time >= self.times[-1]:
            return Moment(time, self.positions[-1], still, still)
        if time < self.times[0]:
            return Moment(time, self.positions[0], still, still)
        i = int(np.searchsorted(self.times, time, side="right")) - 1
        t, a = time - self.times[i], self.accelerations[i]
        jerk = (self.accelerations[i + 1] - a) / (self.times[i + 1] - self.times[i])
        velocity = self.velocities[i] + t * (a + t * jerk / 2.0)
        position = self.positions[i] + t * (self.velocities[i] + t * (a / 2.0 + t * jerk / 6.0))
        return Moment(time, position, velocity, a + t * jerk)

    def sample(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions and velocities (n, 7) at ascending `times` (n,) of the plan."""
        count = int(np.searchsorted(times, self.times[-1]))
        i = np.maximum(np.searchsorted(self.times, times[:count], side="right") - 1, 0)
        t, v, a = (times[:count] - self.times[i])[:, None], self.velocities[i], self.accelerations[i]
        jerk = (self.accelerations[i + 1] - a) / (self.times[i + 1] - self.times[i])[:, None]
        positions = np.repeat(self.positions[-1:], len(times), axis=0)
        velocities = np.zeros_like(positions)
        positions[:count] = self.positions[i] + t * (v + t * (a / 2.0 + t * jerk / 6.0))
        velocities[:count] = v + t * (a + t * jerk / 2.0)
        return positions, velocities

    def shifted(self, seconds: float) -> Plan:
        """The same motion at another time."""
        return replace(self, times=self.times + seconds)

    def between(self, start: float, end: float) -> list[Moment]:
        """The knots between `start` and `end`, none closer to them than a message's time resolution."""
        chosen = np.flatnonzero((self.times > start + _NEXT) & (self.times < end - _NEXT))
        return [
            Moment(float(self.times[i]), self.positions[i], self.velocities[i], self.accelerations[i]) for i in chosen
        ]
