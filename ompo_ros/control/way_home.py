"""Brings the arm home to rest before an episode: straight, or via other postures if that way is blocked."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.homing import Homing, detour, lifted
from ompo_ros.control.motion import Motion
from ompo_ros.control.safety import ArmState
from ompo_ros.control.workspace import Workspace
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS

_HOME: Final = 0.05  # rad from home at which an episode may begin
_REST: Final = 0.1  # rad/s from tick to tick; within a tick a commanded arm always vibrates
_SETTLE: Final = 1.0  # s allowed to come to rest at home
_ROUGHLY_HOME: Final = 0.15  # rad: an arm that vibrates or sags this much may still begin after that time
_BARRED: Final = 1.0  # s without progress before another way is tried
_DETOURS: Final = 20  # ways tried before the user has to help
_OVER_CUBES: Final = 0.1  # m: a hand below it rises first, so as not to take the cube along
_PROGRESS: Final = 0.02  # share of the way that counts as progress, since an arm that presses on something still creeps


class NoWayHome(Exception):
    """All postures were tried, or none lies inside the workspace."""


class WayHome:
    """One arm's way home: call `begin`, then at each tick ask whether it has arrived, and for the next setpoint."""

    def __init__(self, motion: Motion, speed_scale: float) -> None:
        self._motion, self._robot, self._speed_scale = motion, motion.robot, speed_scale
        self._workspace = Workspace(motion.robot)
        self._homing = Homing(motion.robot, motion.robot.home)
        self._on_detour = False
        self._detours = 0  # tried without success since the arm was last home
        self._progress, self._progressed = 0.0, 0.0  # progress so far, and its time
        self._settled_by = np.inf
        self._last_position: FloatArray = np.full(JOINTS, np.inf)  # at the tick before
        self.problem = ""  # why the arm is not home although its setpoint is

    def begin(self, state: ArmState) -> None:
        """Start from the last commanded position."""
        start = self._motion.filter.commanded(state)
        over = lifted(start, _OVER_CUBES) if self._motion.task.has_cube else None
        self._set_out(state, Homing(self._robot, start, self._speed_scale, over))
        self._on_detour, self._settled_by = over is not None, np.inf

    def arrived(self, state: ArmState, now: float) -> bool:
        """Whether the arm is at rest at home, or as near as it gets; raises NoWayHome if it cannot get there."""
        self.problem = ""
        if self._on_detour and self._homing.arrived:
            self.begin(state)
        self._find_a_way(state)
        if self._homing.arrived and not self._on_detour and self._has_settled(state, now):
            self._detours = 0
            return True
        self._last_position = state.position
        return False

    def settles(self, state: ArmState) -> bool:
        """Whether the arm has been led home and is near; on its way there something may hold it up."""
        led = self._homing.arrived and not self._on_detour
        return led and bool(np.abs(state.position - self._robot.home).max() < _ROUGHLY_HOME)

    def next(self, state: ArmState) -> FloatArray:
        """The next setpoint (7,)."""
        return self._homing.next(state.position)

    def _set_out(self, state: ArmState, homing: Homing) -> None:
        self._homing = homing
        self._progress, self._progressed = -1.0, state.time

    def _find_a_way(self, state: ArmState) -> None:
        """Try another posture, a new one each time, if the workspace or an obstacle blocks the straight way."""
        if self._homing.progress > self._progress + _PROGRESS or self._homing.arrived:
            self._progress, self._progressed = self._homing.progress, state.time
        elif state.time - self._progressed > _BARRED:
            start = state.position  # drop the commands' lead: the arm may be pressing on something
            via = detour(self._robot, self._workspace, start, self._detours)
            if via is None or self._detours == _DETOURS:
                self._detours = 0
                raise NoWayHome
            self._detours += 1
            self._set_out(state, Homing(self._robot, start, self._speed_scale, via))
            self._on_detour = True

    def _has_settled(self, state: ArmState, now: float) -> bool:
        self._settled_by = min(self._settled_by, now + _SETTLE)
        distance = np.abs(state.position - self._robot.home).max()
        speed = np.abs(state.position - self._last_position).max() / self._robot.period
        if distance < _HOME and speed < _REST:
            return True
        if now < self._settled_by:
            return False
        if distance >= _ROUGHLY_HOME:
            self.problem = f"the arm stays {distance:.2f} rad from home: is something in its way?"
        return bool(distance < _ROUGHLY_HOME)
