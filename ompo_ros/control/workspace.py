"""The hand's box, and the table that no part of the arm may touch, by forward kinematics."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.task.kinematics import SPHERE_NAMES, SPHERE_RADII, FloatArray, sphere_centres
from ompo_ros.task.robot import JOINTS, Robot
from ompo_ros.transitions import BoolArray

_MARGIN: Final = 1e-6  # m of the box reserved for rounding
_TABLE: Final = 0.0  # m, its height in the base frame
_CLEARANCE: Final = 0.002  # m of clearance for a sphere, which may dip between two checked points
_TIP: Final = SPHERE_NAMES.index("end effector")
_ROUNDING: Final = 1e-12  # m
_TILT: Final = 1e-4  # rad, for slopes
_NEWTON_STEPS: Final = 20  # more do not help


class Workspace:
    """Measures how far a posture is outside the box, and whether a motion leads further out."""

    def __init__(self, robot: Robot) -> None:
        self._low = robot.workspace_low + _MARGIN
        self._high = robot.workspace_high - _MARGIN

    def outside(self, positions: FloatArray, depth: float = 0.0) -> FloatArray:
        """Total metres (...) that positions (..., 7) lack to be `depth` inside the box and above the table."""
        centres = sphere_centres(positions)
        tips = centres[..., _TIP, :]
        over = np.maximum(np.maximum(self._low - tips, tips - self._high) + depth, 0.0)
        under = np.maximum(_TABLE + _CLEARANCE + SPHERE_RADII - centres[..., 2] + depth, 0.0)
        return np.asarray(over.sum(axis=-1) + under.sum(axis=-1))

    def never_further_out(self, paths: FloatArray) -> BoolArray:
        """Whether the arm stays inside along paths (..., n, 7), or returns inside without moving outwards."""
        # Also halfway between setpoints, where the hand may leave the box.
        points = np.empty((*paths.shape[:-2], 2 * paths.shape[-2] - 1, JOINTS))
        points[..., ::2, :] = paths
        points[..., 1::2, :] = (paths[..., :-1, :] + paths[..., 1:, :]) / 2.0
        return np.asarray((np.diff(self.outside(points)) <= _ROUNDING).all(axis=-1))

    def way_out(self, position: FloatArray, depth: float = 0.0) -> FloatArray:
        """The slope (7,) of `outside` at `position`: zero where it is inside."""
        outside = self.outside(position + np.vstack((np.zeros(JOINTS), _TILT * np.eye(JOINTS))), depth)
        return np.asarray((outside[1:] - outside[0]) / _TILT)

    def nearest_inside(self, position: FloatArray, depth: float) -> FloatArray:
        """The posture (7,) near `position` that is `depth` inside."""
        for _ in range(_NEWTON_STEPS):
            slope = self.way_out(position, depth)
            if not slope.any():
                break
            position = position - slope * (self.outside(position, depth) / (slope @ slope))
        return position
