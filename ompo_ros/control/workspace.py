"""The box the hand must stay in, by forward kinematics."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.robot import JOINTS, Robot
from ompo_ros.domains.kinematics import FloatArray, end_effector_position

_MARGIN: Final = 1e-6  # m of the box left to rounding
_ROUNDING: Final = 1e-12  # m
_TILT: Final = 1e-4  # rad, for slopes


class Workspace:
    """How far out of the box a posture is, and whether a motion leads further out."""

    def __init__(self, robot: Robot) -> None:
        self._low = robot.workspace_low + _MARGIN
        self._high = robot.workspace_high - _MARGIN

    def outside(self, positions: FloatArray) -> FloatArray:
        """Metres (n,) that the hand is out of the box for joint positions (n, 7), summed over the axes."""
        hand = end_effector_position(positions)
        over = np.maximum(self._low - hand, hand - self._high)
        return np.asarray(np.maximum(over, 0.0).sum(axis=-1))

    def never_further_out(self, path: FloatArray) -> bool:
        """Whether the hand stays in the box along `path` (n, 7), or comes back to it without a turn outwards."""
        # Half way between setpoints too: there the hand may bulge out of a face.
        points = np.empty((2 * len(path) - 1, JOINTS))
        points[::2] = path
        points[1::2] = (path[:-1] + path[1:]) / 2.0
        return bool((np.diff(self.outside(points)) <= _ROUNDING).all())

    def way_out(self, position: FloatArray) -> FloatArray:
        """The direction (7,) in which `position` gets further out: zero where it is inside."""
        depth = self.outside(position + np.vstack((np.zeros(JOINTS), _TILT * np.eye(JOINTS))))
        return np.asarray((depth[1:] - depth[0]) / _TILT)
