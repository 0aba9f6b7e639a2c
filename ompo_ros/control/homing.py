"""Back to the home pose: straight in joint space, smooth, no faster than is safe, and never ahead of the arm."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.robot import Robot
from ompo_ros.control.workspace import Workspace
from ompo_ros.domains.kinematics import FloatArray
from ompo_ros.transitions import BoolArray

MAX_LAG: Final = 0.2  # rad behind the setpoint at which the setpoint waits for the arm
_PEAK_SPEED: Final = 1.875  # of the quintic profile, relative to its mean speed
_PEAK_ACCELERATION: Final = 5.7735  # relative to distance / duration^2
_EASE: Final = 0.5  # share of the acceleration limits that homing uses
_DETOUR_LEAST: Final = 0.05  # rad; a joint nearer home than this is no help
_DETOUR_POINTS: Final = 20  # at which a detour is looked at


class Homing:
    """A quintic profile from one posture to home, paced by how well the arm follows."""

    def __init__(self, robot: Robot, start: FloatArray, speed_scale: float = 1.0, joint: int | None = None) -> None:
        """From `start` to home; with `joint` given, only that one comes home."""
        self._start = start
        self._way = robot.home - start
        if joint is not None:
            self._way[np.arange(len(start)) != joint] = 0.0
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
        pace = min(max(2.0 * (1.0 - lag / MAX_LAG), 0.0), 1.0)  # a lag of up to half of that is any arm's
        self._progress = min(self._progress + pace * self._period / self._duration, 1.0)
        s = self._progress
        self._setpoint = self._start + self._way * (s**3 * (10.0 + s * (6.0 * s - 15.0)))
        return self._setpoint

    @property
    def progress(self) -> float:
        """Share of the way that the setpoint has gone, from 0 to 1."""
        return self._progress

    @property
    def arrived(self) -> bool:
        """Whether the setpoint is home; the arm may still be on its way."""
        return self._progress >= 1.0


def detour(robot: Robot, workspace: Workspace, position: FloatArray, tried: BoolArray) -> int | None:
    """The joint to bring home first where the straight way is barred: the longest move inside not yet tried (7,)."""
    way = robot.home - position
    shares = np.linspace(0.0, 1.0, _DETOUR_POINTS)[:, None]
    for joint in np.argsort(-np.abs(way)):
        path = position + shares * np.where(np.arange(len(way)) == joint, way, 0.0)
        if not tried[joint] and abs(way[joint]) > _DETOUR_LEAST and workspace.never_further_out(path):
            return int(joint)
    return None
