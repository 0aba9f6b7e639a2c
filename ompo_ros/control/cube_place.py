"""Keeps the arm still while a person may have the cube in hand, and asks them to put it back where it belongs."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Task

REST_TIME: Final = 3.0  # s for a person's hands to get out of the arm's reach
_MARGIN: Final = np.array([0.03, 0.03, 0.015])  # m around the box in which episodes of the sources begin
_STILL: Final = 0.005  # m that the mean position of a cube at rest may wander
_TOUCHED: Final = 0.03  # m that the cube moves while no policy moves the arm: somebody has it
_MEMORY: Final = 0.25  # s over which positions are averaged, since trackers have millimetres of noise


class CubePlace:
    """Follows the cube from tick to tick; without a cube there is nothing to follow.

    Somebody may have the cube in hand after the tracker lost it, after it moved although no policy moved the arm, and
    after they were asked to put it back. The arm then waits until the cube has been at rest for `rest_time`.
    """

    def __init__(self, task: Task, rest_time: float = REST_TIME) -> None:
        self._has_cube, self._rest_time = task.has_cube, rest_time
        self._low, self._high = task.goal_box  # cubes start where goals lie
        self._touched = True  # nobody knows what happened before the first tick
        self._asked = False
        self._mean: FloatArray | None = None  # of the last positions
        self._place: FloatArray = np.zeros(3)  # where the arm left it, or where it has been at rest
        self._since = self._last = 0.0  # when it came to rest there, and the last tick

    def wait(self, cube: FloatArray | None, now: float, *, pushing: bool) -> str:
        """Say why the arm must not move yet, or return ""; to be called at each tick."""
        if not self._has_cube or cube is None:
            self._mean, self._touched = None, True
            return ""
        if pushing or self._mean is None:
            self._mean = self._place = cube
            self._since = self._last = now
        self._mean = self._mean + (cube - self._mean) * (1.0 - np.exp(-max(now - self._last, 0.0) / _MEMORY))
        self._last = now
        moved = np.abs(self._mean - self._place).max()
        self._touched = self._touched or bool(moved > _TOUCHED)
        if pushing or not self._touched:
            return ""
        if moved > _STILL or now < self._since:
            self._place, self._since = self._mean, now
        return self._keep_away(cube, now)

    def ask(self, cube: FloatArray | None) -> str:
        """Ask a person to put the cube back before an episode, unless it lies where one may begin."""
        if cube is None or not self._has_cube or not self._is_outside(cube):
            return ""
        self._asked = self._touched = True
        x, y = (f"{low:g} to {high:g}" for low, high in zip(self._low[:2], self._high[:2], strict=True))
        return f"put the cube back on the table, to x {x} and y {y} m: it is at {cube.round(2).tolist()}"

    def _is_outside(self, cube: FloatArray) -> bool:
        return bool((cube < self._low - _MARGIN).any() or (cube > self._high + _MARGIN).any())

    def _keep_away(self, cube: FloatArray, now: float) -> str:
        if self._asked and (asking := self.ask(cube)):
            self._since = now
            return asking
        if now - self._since < self._rest_time:
            return f"somebody may hold the cube: keep away, the arm moves {self._rest_time:g} s after it lies still"
        self._touched = self._asked = False
        return ""
