"""Asks a person to put the cube back when an episode cannot begin where it lies, and gives them time to step away."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Task

_MARGIN: Final = 0.03  # m around the box in which episodes of the sources begin
_STILL: Final = 0.002  # m that a tracker's noise may move a cube that nobody holds
_AWAY: Final = 3.0  # s for a person's hands to get out of the arm's reach


class CubePlace:
    """Judges the cube's position before an episode; without a cube there is nothing to judge."""

    def __init__(self, task: Task) -> None:
        self._has_cube = task.has_cube
        self._low, self._high = task.goal_box  # cubes start where goals lie
        self._asked = False
        self._place: FloatArray = np.full(3, np.inf)
        self._still_since = np.inf

    def problem(self, cube: FloatArray | None, now: float) -> str:
        """What a person has to do before the next episode; empty if it may begin."""
        if not self._has_cube or cube is None:
            return ""
        if (cube < self._low - _MARGIN).any() or (cube > self._high + _MARGIN).any():
            self._asked, self._still_since = True, np.inf
            x, y = (f"{low:g} to {high:g}" for low, high in zip(self._low[:2], self._high[:2], strict=True))
            return f"put the cube back on the table, to x {x} and y {y} m: it is at {cube.round(2).tolist()}"
        if not self._asked:
            return ""
        if np.abs(cube - self._place).max() > _STILL or now < self._still_since:
            self._place, self._still_since = cube, now
        if now - self._still_since < _AWAY:
            return f"the cube is back: keep away, the arm moves after {_AWAY:g} s"
        self._asked = False
        return ""
