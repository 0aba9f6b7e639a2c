"""Back to the home pose: straight in joint space, smooth, no faster than is safe, and never ahead of the arm."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.robot import Robot
from ompo_ros.domains.kinematics import FloatArray

MAX_LAG: Final = 0.1  # rad behind the setpoint at which the setpoint waits for the arm
_PEAK_SPEED: Final = 1.875  # of the quintic profile, relative to its mean speed
_PEAK_ACCELERATION: Final = 5.7735  # relative to distance / duration^2
_EASE: Final = 0.5  # share of the acceleration limits that homing uses


class Homing:
    """A quintic profile from one posture to home, paced by how well the arm follows."""

    def __init__(self, robot: Robot, start: FloatArray, speed_scale: float = 1.0) -> None:
        self._start = start
        self._way = robot.home - start
        self._period = robot.period
        distance = np.abs(self._way)
        by_speed = _PEAK_SPEED * distance.max() / (robot.home_speed * speed_scale)
        by_acceleration = np.sqrt(_PEAK_ACCELERATION * distance / (_EASE * robot.acceleration)).max()
        self._duration = max(float(by_speed), float(by_acceleration), self._period)
        self._progress = 0.0
        self._setpoint = start

    def next(self, measured: FloatArray) -> FloatArray:
        """Give the next setpoint (7,), closer to home by as much as the arm has kept up."""
        lag = float(np.abs(self._setpoint - measured).max())
        pace = min(max(1.0 - lag / MAX_LAG, 0.0), 1.0)
        self._progress = min(self._progress + pace * self._period / self._duration, 1.0)
        s = self._progress
        self._setpoint = self._start + self._way * (s**3 * (10.0 + s * (6.0 * s - 15.0)))
        return self._setpoint

    @property
    def arrived(self) -> bool:
        """Whether the setpoint is home; the arm may still be on its way."""
        return self._progress >= 1.0
