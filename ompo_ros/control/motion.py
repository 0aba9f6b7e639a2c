"""Moves an arm by proposals: doubts what is measured, passes all through the safety filter, brakes before silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ompo_ros.control.continuity import Continuity
from ompo_ros.control.episode import PlayedEpisode
from ompo_ros.control.following import Following
from ompo_ros.control.safety import ArmState, Reason, SafeCommand, SafetyFilter
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import Task

NO_CUBE: Final[FloatArray] = np.zeros(3)  # for tasks that do not look at it
_NO_ARMS_VELOCITY: Final = 10.0  # times the limits
_MOVED: Final = 0.1  # rad from where it was left: others have moved the arm, or its driver let go
_RETREATED: Final = 2e-3  # rad
_SETTLING: Final = 0.2  # s from a motion's end until the arm has followed it
_LONGEST_BRAKING: Final = 5.0  # s; a rest further ahead is of a clock that was set back
_STANDS: Final = 1e-6  # rad/s
_STANDING: Final = 0.1  # rad/s that an arm at rest is measured to have at most
_STOPPING: Final = frozenset({Reason.STALE, Reason.BAD_STATE, Reason.LEAD, Reason.BAD_PROPOSAL})


@dataclass(frozen=True)
class Tick:
    """What a tick brought: what to send, an episode if one ended, and whether the arm only waits at home."""

    command: SafeCommand | None = None
    finished: PlayedEpisode | None = None
    waits: bool = False


class Motion:
    """What everything that commands an arm does between its intent and the arm; `enable` lets it move again."""

    def __init__(self, robot: Robot, task: Task, speed_scale: float, enable: str) -> None:
        self.robot, self.task, self.contract = robot, task, task.on(robot)
        self.filter = SafetyFilter(robot, speed_scale)
        self._continuity = Continuity(robot, enable)
        self._following = Following()
        self.moving = False  # whether commands go out
        self._retreat: FloatArray | None = None  # where to lead a driver back to whose arm did not follow
        self._left_at: FloatArray | None = None  # where the arm was measured when it was last commanded
        self._settled = -np.inf  # when an arm that was left to its driver has come to rest
        self._last_tick = -np.inf

    def due(self, now: float) -> bool:
        """Note a tick; False for one that makes up for a late one: the arm needs its period."""
        if self.moving and 0.0 <= now - self._last_tick < self.robot.period / 2.0:
            return False
        self._last_tick = now
        return True

    def doubt(self, state: ArmState | None, cube: FloatArray | None, now: float) -> str:
        """Say why not to move on this state; without a newer one the arm must brake before it is stale."""
        if state is None:
            return "no joint state has come yet"
        age = now - state.time
        if age + self.filter.driver.delay > self.robot.stale_after:
            if self.filter.is_unsure:
                self._settled = now + _SETTLING  # an arm that was stopped may only now begin to follow
            return f"no joint state for {age:.2f} s"
        if not (np.isfinite(state.position).all() and np.isfinite(state.velocity).all()):
            return "the joint state is not finite"
        if (np.abs(state.velocity) > _NO_ARMS_VELOCITY * self.robot.velocity).any():
            return f"a joint's velocity of {np.abs(state.velocity).max():.3g} rad/s is no arm's"
        if jumped := self._continuity.doubt(state):
            return jumped
        beyond = self.filter.beyond_limits(state.position)
        if not self.moving and beyond > self.robot.max_step:
            return f"a joint is {beyond:.2f} rad beyond its limits: bring it back by hand"
        settling = 0.0 < self._settled - now < _LONGEST_BRAKING
        # Where it comes to rest shows which command it holds; until then it may be on its way to another.
        going = self.filter.is_unsure and np.abs(state.velocity).max() > _STANDING
        if not self.moving and (settling or going):
            return "waiting for the arm to come to rest"
        if self.task.has_cube and cube is None:
            return "the task needs the cube's position, but the topic `cube` is silent"
        return ""

    def trust(self) -> None:
        """Accept the next joint state: somebody has looked."""
        self._continuity.forget()

    @property
    def retreating(self) -> bool:
        """Whether the driver is still being led back to an arm that did not follow."""
        return self._retreat is not None and self.moving

    def begin(self, state: ArmState) -> None:
        """If the arm stood, start from where it is, or go on from where its driver still holds it."""
        if self.moving:
            return
        self._following.forget()
        held = self.filter.reference(np.inf)
        known = [position for position in (self._left_at, held) if position is not None]
        moved = all(np.abs(state.position - position).max() > _MOVED for position in known)
        self.filter.resume(state.position, moved=moved)

    def propose(self, state: ArmState, proposal: FloatArray, now: float) -> tuple[SafeCommand | None, str]:
        """Turn a position (7,) into a command; the text says why the arm is stopped, if it is."""
        reference = self.filter.reference(now)
        blocked = "" if reference is None else self._following.doubt(now, reference, state.position)
        command = self.filter.filter(state, None if blocked else proposal, now)
        why = command.reasons & _STOPPING if command is not None else frozenset()
        self.moving = command is not None and not (bool(why or blocked) and command.at_rest)
        self._left_at = state.position
        if blocked or Reason.LEAD in why:
            self._retreat, self.moving = state.position, command is not None
            self._following.forget()
        return _sent(command), blocked or ", ".join(sorted(reason.value for reason in why))

    def brake(self, state: ArmState | None, now: float) -> SafeCommand | None:
        """Brake to rest, then send nothing more: a driver holds the last position by itself."""
        if not self.moving:
            return None
        unheard = state is None or not now - state.time <= self.robot.stale_after
        if unheard and self.filter.driver.meets:
            self.leave()
            return None
        target = self._retreat
        command = self.filter.filter(state, target, now, retreat=True)
        if command is None or (target is None and command.at_rest):
            self.moving = False
        elif target is not None and _has_ended(command, target):
            self._retreat = None
        return _sent(command)

    def leave(self) -> None:
        """Send nothing more, because nothing may get through: a trajectory ends at rest, a setpoint is held."""
        self._settled = self.filter.rest_time() + _SETTLING
        self.moving, self._retreat = False, None

    def withdraw(self) -> None:
        """Take the last command back, which came too late to be sent: what it was for is still to be done."""
        self.filter.withdraw()
        self.moving = True

    def figures(self) -> dict[str, int]:
        """How often the filter was asked, and what it changed."""
        changed = {f"filtered: {reason.value}": count for reason, count in sorted(self.filter.changed.items())}
        return {"filter_calls": self.filter.calls, **changed}


def _sent(command: SafeCommand | None) -> SafeCommand | None:
    """A command that came before its time is not sent: the driver has one."""
    return None if command is None or Reason.EARLY in command.reasons else command


def _has_ended(retreat: SafeCommand, target: FloatArray) -> bool:
    """Whether a retreat has come to its target, or is not let any nearer."""
    near = np.abs(retreat.position - target).max() < _RETREATED
    return bool(near or np.abs(retreat.velocity).max() < _STANDS or retreat.reasons & _STOPPING)
