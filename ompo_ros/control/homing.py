"""Returns to the home pose: straight in joint space, smooth, within the limits, and paced by the arm."""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from ompo_ros.control.workspace import Workspace
from ompo_ros.task.kinematics import FloatArray, end_effector_position, hand_jacobian
from ompo_ros.task.robot import JOINTS, Robot

MAX_LAG: Final = 0.2  # rad of lag at which the setpoint waits for the arm
_PEAK_SPEED: Final = 1.875  # of the quintic profile, relative to its mean speed
_PEAK_ACCELERATION: Final = 5.7735  # relative to distance / duration^2
_EASE: Final = 0.5  # share of the acceleration limits that homing uses
_DETOUR_LEAST: Final = 0.05  # rad; a joint nearer home than this is not tried
_DETOUR_POINTS: Final = 20  # points at which a detour is checked
_JOINTS: Final = np.array(list(itertools.product((False, True), repeat=JOINTS))[1:-1])  # any subset but none and all
_HIGH_ENOUGH: Final = 0.01  # m that a lift may miss
_LIFTS: Final = 10  # Newton steps of a lift
_DAMPING: Final = 1e-4  # m^2/rad^2 of them
_BACK_INSIDE: Final = 0.03  # m inside the workspace that a hand outside goes to, since an arm may miss by as much


class Homing:
    """A quintic profile from one posture to home, paced by the arm's progress."""

    def __init__(
        self, robot: Robot, start: FloatArray, speed_scale: float = 1.0, via: FloatArray | None = None
    ) -> None:
        """From `start` to home, or only to the posture `via` (7,) on the way."""
        self._start = start
        self._way = (robot.home if via is None else via) - start
        self._period = robot.period
        distance = np.abs(self._way)
        by_speed = _PEAK_SPEED * distance.max() / (robot.home_speed * speed_scale)
        by_acceleration = np.sqrt(_PEAK_ACCELERATION * distance / (_EASE * robot.acceleration)).max()
        self._duration = max(float(by_speed), float(by_acceleration), self._period)
        self._progress = 0.0
        self._setpoint = start

    def next(self, measured: FloatArray) -> FloatArray:
        """The next setpoint (7,); it advances as far as the arm has followed."""
        lag = float(np.abs(self._setpoint - measured).max())
        pace = min(max(2.0 * (1.0 - lag / MAX_LAG), 0.0), 1.0)  # a lag of up to half of that is normal
        self._progress = min(self._progress + pace * self._period / self._duration, 1.0)
        s = self._progress
        self._setpoint = self._start + self._way * (s**3 * (10.0 + s * (6.0 * s - 15.0)))
        return self._setpoint

    @property
    def progress(self) -> float:
        """The setpoint's progress, from 0 to 1."""
        return self._progress

    @property
    def arrived(self) -> bool:
        """Whether the setpoint is home; the arm may still be on its way."""
        return self._progress >= 1.0


def lifted(position: FloatArray, height: float) -> FloatArray | None:
    """The posture (7,) near `position` with the hand straight above, `height` metres high; None if it is there."""
    point = end_effector_position(position)
    if point[2] > height - _HIGH_ENOUGH:
        return None
    above = np.array([point[0], point[1], height])
    for _ in range(_LIFTS):
        jacobian = hand_jacobian(position[None])[0][0]
        miss = above - end_effector_position(position)
        position = position + jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + _DAMPING * np.eye(3), miss)
    return position


def detour(robot: Robot, workspace: Workspace, position: FloatArray, tried: int) -> FloatArray | None:
    """The posture (7,) to go to first if the straight way home is blocked; a new one for each that was `tried`.

    A hand outside returns inside. At every second try, a hand near a face backs away from it. Otherwise a few joints go
    home first: preferably those after which the others can follow straight, else any whose motion stays inside.
    """
    if workspace.outside(position, _BACK_INSIDE * (tried % 2)) > 0.0:
        return workspace.nearest_inside(position, _BACK_INSIDE)
    way = robot.home - position
    joints = _JOINTS[~(_JOINTS & (np.abs(way) < _DETOUR_LEAST)).any(axis=1)]
    joints = joints[np.lexsort((-(np.abs(way) * joints).max(axis=1), joints.sum(axis=1)))]
    vias = position + way * joints
    shares = np.linspace(0.0, 1.0, _DETOUR_POINTS)[:, None]
    first = workspace.never_further_out(position + shares * (vias - position)[:, None])
    then = workspace.never_further_out(vias[:, None] + shares * (robot.home - vias)[:, None])
    ways = np.concatenate((vias[first & then], vias[first & ~then]))
    return np.asarray(ways[tried % len(ways)]) if len(ways) else None
