"""Moves an arm by proposals: checks measurements, filters every command, brakes before it stops sending."""

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
from ompo_ros.words import FILTERED

NO_CUBE: Final[FloatArray] = np.zeros(3)  # for tasks without a cube
_NO_ARMS_VELOCITY: Final = 10.0  # times the limits
_MOVED: Final = 0.1  # rad from its last position: others have moved the arm, or its driver let go
_RETREATED: Final = 2e-3  # rad
_SETTLING: Final = 0.2  # s after a motion's end until the arm has followed it
_LONGEST_BRAKING: Final = 5.0  # s; a rest further ahead means that the clock was set back
_STANDS: Final = 1e-6  # rad/s
_STANDING: Final = 0.1  # rad/s; largest measured velocity of an arm at rest
_STOPPING: Final = frozenset({Reason.STALE, Reason.BAD_STATE, Reason.LEAD, Reason.BAD_PROPOSAL})


@dataclass(frozen=True)
class Tick:
    """The result of a tick: the command to send, an episode if one ended, whether the arm only waits at home."""

    command: SafeCommand | None = None
    finished: PlayedEpisode | None = None
    waits: bool = False


class Motion:
    """The common path of every command to the arm; `enable` lets it move again."""

    def __init__(self, robot: Robot, task: Task, speed_scale: float, enable: str) -> None:
        self.robot, self.task, self.contract = robot, task, task.on(robot)
        self.filter = SafetyFilter(robot, speed_scale)
        self._continuity = Continuity(robot, enable)
        self._following = Following(task)
        self.cube_topic = "cube"  # as messages name it
        self.moving = False  # whether commands are sent
        self._retreat: FloatArray | None = None  # where to lead the driver back to, if the arm did not follow
        self._left_at: FloatArray | None = None  # measured position at the last command
        self._settled = -np.inf  # when an arm without new commands has come to rest
        self._last_tick = -np.inf

    def due(self, now: float) -> bool:
        """Record a tick; False for one that follows a late one too soon, since the arm needs its period."""
        if self.moving and 0.0 <= now - self._last_tick < self.robot.period / 2.0:
            return False
        self._last_tick = now
        return True

    def doubt(self, state: ArmState | None, cube: FloatArray | None, now: float) -> str:
        """Say why the arm must not move on this state; without a newer one it brakes before the state is stale."""
        if state is None:
            return "no joint state has come yet"
        age = now - state.time
        if age + self.filter.driver.delay > self.robot.stale_after:
            if self.filter.is_unsure:
                self._settled = now + _SETTLING  # a stopped arm may begin to follow only now
            return f"no joint state for {age:.2f} s"
        if age < -self.robot.period:
            return "no joint state since the clock was set back"
        if doubt := self._doubt_values(state) or self._continuity.doubt(state):
            return doubt
        if not self.moving and (overload := self._overload(state)):
            return overload
        beyond = self.filter.beyond_limits(state.position)
        if not self.moving and beyond > self.robot.max_step:
            return f"a joint is {beyond:.2f} rad beyond its limits: bring it back by hand"
        settling = 0.0 < self._settled - now < _LONGEST_BRAKING
        # The rest position shows which command the driver holds; until then it may be moving to another.
        going = self.filter.is_unsure and np.abs(state.velocity).max() > _STANDING
        if not self.moving and (settling or going):
            return "waiting for the arm to come to rest"
        if self.task.has_cube and cube is None:
            return f"the task needs the cube's position, but the topic `{self.cube_topic}` brings no new one"
        return ""

    def _doubt_values(self, state: ArmState) -> str:
        if not (np.isfinite(state.position).all() and np.isfinite(state.velocity).all()):
            return "the joint state is not finite"
        if (np.abs(state.velocity) > _NO_ARMS_VELOCITY * self.robot.velocity).any():
            return f"a joint's velocity of {np.abs(state.velocity).max():.3g} rad/s is impossible"
        return ""

    def _overload(self, state: ArmState) -> str:
        """Say which joint bears more than it may; the driver has to be led back, or it keeps pressing."""
        if state.effort is None or (np.abs(state.effort) <= self.robot.torque).all():
            return ""
        joint = int((np.abs(state.effort) / self.robot.torque).argmax())
        bears = f"{self.robot.joint_names[joint]} bears {abs(state.effort[joint]):.0f} Nm"
        return f"{bears}, its limit is {self.robot.torque[joint]:g}: what does the arm press against?"

    def trust(self) -> None:
        """Accept the next joint state, after the user has checked the arm."""
        self._continuity.forget()

    def expect_lead(self, lead: FloatArray) -> None:
        """Take the lead (7,) in rad with which the next commands hold a still arm: it is no sign of pushing."""
        self._following.expect_lead(lead)

    @property
    def retreating(self) -> bool:
        """Whether the driver is still being led back to the arm."""
        return self._retreat is not None and self.moving

    def begin(self, state: ArmState) -> None:
        """After a stop, start from the arm's position or from the driver's setpoint."""
        if self.moving:
            return
        self._following.forget()
        held = self.filter.reference(np.inf)
        known = [position for position in (self._left_at, held) if position is not None]
        moved = all(np.abs(state.position - position).max() > _MOVED for position in known)
        self.filter.resume(state.position, moved=moved)

    def propose(
        self, state: ArmState, proposal: FloatArray, now: float, *, by_policy: bool = True, at_home: bool = False
    ) -> tuple[SafeCommand | None, str]:
        """Turn a position (7,) into a command; the text says why the arm is stopped, or is empty.

        `at_home`: the arm has been led home and settles there, which shows the lead that it rests with.
        """
        reference, blocked = self.filter.reference(now), self._overload(state)
        if reference is not None and not blocked:
            blocked = self._following.doubt(now, reference, state.position, by_policy=by_policy, at_home=at_home)
        command = self.filter.filter(state, None if blocked else proposal, now)
        why = command.reasons & _STOPPING if command is not None else frozenset()
        self.moving = command is not None and not (bool(why or blocked) and command.at_rest)
        self._left_at = state.position
        if blocked or Reason.LEAD in why:
            self._retreat, self.moving = state.position, command is not None
            self._following.forget()
        return _sent(command), blocked or ", ".join(sorted(reason.value for reason in why))

    def brake(self, state: ArmState | None, now: float) -> SafeCommand | None:
        """Brake to rest, then stop sending: a driver holds the last position by itself."""
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
        """Stop sending, because commands may not arrive: a trajectory ends at rest, a setpoint is held."""
        self._settled = self.filter.rest_time() + _SETTLING
        self.moving, self._retreat = False, None

    def withdraw(self) -> None:
        """Undo the last command, which was too late to be sent; its purpose remains to be done."""
        self.filter.withdraw()
        self.moving = True

    def figures(self) -> dict[str, int]:
        """How many commands were filtered, and what was changed."""
        changed = {f"{FILTERED}{reason.value}": count for reason, count in sorted(self.filter.changed.items())}
        return {"filter_calls": self.filter.calls, **changed}


def _sent(command: SafeCommand | None) -> SafeCommand | None:
    """Do not send a command that is too early: the driver still has one."""
    return None if command is None or Reason.EARLY in command.reasons else command


def _has_ended(retreat: SafeCommand, target: FloatArray) -> bool:
    """Whether a retreat has reached its target, or cannot get nearer."""
    near = np.abs(retreat.position - target).max() < _RETREATED
    return bool(near or np.abs(retreat.velocity).max() < _STANDS or retreat.reasons & _STOPPING)
