"""Keeps the arm still while a person may have the cube in hand, and asks them to put it back where it belongs."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.safety import ArmState
from ompo_ros.task.kinematics import FloatArray, end_effector_position
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import Task
from ompo_ros.task.teacher import STANDOFF

REST_TIME: Final = 3.0  # s for a person's hands to get out of the arm's reach
_MARGIN: Final = np.array([0.03, 0.03, 0.015])  # m around the box in which episodes of the sources begin
_STILL: Final = 0.005  # m that the mean position of a cube at rest may wander
_TOUCHED: Final = 0.03  # m that the cube moves although the arm does not push it: somebody has it
_MEMORY: Final = 0.25  # s over which positions are averaged, since trackers have millimetres of noise
_NEAR: Final = 0.17  # m from its centre within which some side of the hand may be what moves it
_SLIDES: Final = 0.5  # s that it may slide on after the hand or the policy has let go of it
_BEYOND: Final = np.array([0.06, 0.06, 0.05])  # m outside the hand's box, above or below the table: no push leads there


class CubePlace:
    """Follows the cube from tick to tick; without a cube there is nothing to follow.

    Somebody may have the cube in hand after the tracker lost it, after it moved although the arm did not push it, and
    after they were asked to put it back. The arm then waits until the cube has been at rest for `rest_time`.
    """

    def __init__(self, task: Task, robot: Robot, rest_time: float = REST_TIME) -> None:
        self._has_cube, self._rest_time = task.has_cube, rest_time
        low, high = task.goal_box  # cubes start where goals lie
        hand_low, hand_high = robot.workspace_low[:2], robot.workspace_high[:2]
        room_low, room_high = np.append(hand_low + STANDOFF, -np.inf), np.append(hand_high - STANDOFF, np.inf)
        self._box = np.maximum(low, room_low), np.minimum(high, room_high)
        self._begins = np.maximum(low - _MARGIN, room_low), np.minimum(high + _MARGIN, room_high)
        if self._has_cube and (self._box[0] > self._box[1]).any():
            raise ValueError(
                f"the workspace of robot {robot.name} leaves {task.name} no room: widen workspace_low and "
                f"workspace_high in its preset to {1e3 * STANDOFF:.0f} mm around a part of x {low[0]:g} to {high[0]:g} "
                f"and y {low[1]:g} to {high[1]:g} m"
            )
        self._reach = np.append(hand_low, low[2]) - _BEYOND, np.append(hand_high, high[2]) + _BEYOND
        self._touched = True  # nobody knows what happened before the first tick
        self._asked = False
        self._mean: FloatArray | None = None  # of the last positions
        self._place: FloatArray = np.zeros(3)  # where the arm left it, or where it has been at rest
        self._since = self._last = 0.0  # when it came to rest there, and the last tick
        self._ran = self._near = -np.inf  # when a policy moved the arm, and when the hand was near the cube

    def wait(self, cube: FloatArray | None, state: ArmState | None, now: float, *, running: bool) -> str:
        """Say why the arm must not move yet, or return ""; to be called at each tick."""
        if not self._has_cube:
            return ""
        if cube is None:
            self._mean, self._touched = None, True
            return ""
        pushing = self._may_push(cube, state, now, running=running)
        if pushing or self._mean is None:
            self._mean = self._place = cube
            self._since = self._last = now
        self._mean = self._mean + (cube - self._mean) * (1.0 - np.exp(-max(now - self._last, 0.0) / _MEMORY))
        self._last = now
        moved = np.abs(self._mean - self._place).max()
        self._touched = self._touched or bool(moved > _TOUCHED)
        if not self._touched:
            return ""
        if moved > _STILL or now < self._since:
            self._place, self._since = self._mean, now
        return self._keep_away(cube, now)

    def ask(self, cube: FloatArray | None) -> str:
        """Ask a person to put the cube back before an episode, unless it lies where one may begin."""
        if cube is None or not self._has_cube or _is_within(cube, self._begins):
            return ""
        self._asked = self._touched = True
        (low_x, low_y, table), (high_x, high_y, _) = self._box
        place = f"x {low_x:g} to {high_x:g} and y {low_y:g} to {high_y:g} m"
        if not self._begins[0][2] <= cube[2] <= self._begins[1][2]:
            place += f", its centre at z {table:g} m"
        return f"put the cube back on the table, to {place}: it is at {cube.round(2).tolist()}"

    def lost(self, cube: FloatArray | None) -> bool:
        """Whether the cube is off the table or out of the arm's reach: no policy helps, and somebody will fetch it."""
        if cube is None or not self._has_cube or _is_within(cube, self._reach):
            return False
        self._touched, self._since = True, self._last
        return True

    def _may_push(self, cube: FloatArray, state: ArmState | None, now: float, *, running: bool) -> bool:
        """Whether the arm may be what moves the cube."""
        if running:
            self._ran = now
        if state is not None and np.linalg.norm(end_effector_position(state.position) - cube) < _NEAR:
            self._near = now
        return abs(now - self._ran) <= _SLIDES and abs(now - self._near) <= _SLIDES

    def _keep_away(self, cube: FloatArray, now: float) -> str:
        if self._asked and (asking := self.ask(cube)):
            self._since = now
            return asking
        if now - self._since < self._rest_time:
            return f"somebody may hold the cube: keep away, the arm moves {self._rest_time:g} s after it lies still"
        self._touched = self._asked = False
        return ""


def _is_within(cube: FloatArray, box: tuple[FloatArray, FloatArray]) -> bool:
    low, high = box
    return bool(((cube >= low) & (cube <= high)).all())
