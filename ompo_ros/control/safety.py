"""The safety filter: turns any proposal into a motion within the limits that can always be stopped.

Each command starts from the driver's state at that time, in elapsed time. Velocity, acceleration and jerk keep their
limits until braking from there has ended, within the position limits and the workspace. If no new motion passes, the
last one continues: it ends at rest and was checked when it was made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.control.driver import ROUNDING, Start, driver_of
from ompo_ros.control.plan import Moment, Plan
from ompo_ros.control.workspace import Workspace
from ompo_ros.task.joint_speed import Approach
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot

_MARGIN: Final = 1e-4  # rad of the position limits reserved for the motion between two checked points
_REACHED: Final = 1e-9  # rad/s by which a proposal may exceed a bound without counting as changed
_POSSIBLE: Final = 25  # unacknowledged commands beyond which the driver's setpoint is unknown
_BLENDS: Final = (1.0, 0.5, 0.25, 0.125)  # shares of a proposal tried at the workspace's border, before braking


class Reason(str, Enum):
    """Why a command differs from the proposal."""

    POSITION = "position limit"
    VELOCITY = "velocity limit"
    STEP = "step size"
    ACCELERATION = "acceleration limit"
    WORKSPACE = "workspace"
    BAD_PROPOSAL = "proposal not finite or of the wrong shape"
    BAD_STATE = "joint state not finite or of the wrong shape"
    STALE = "joint state stale"
    BEYOND_LIMITS = "arm beyond its joint limits"
    LEAD = "arm does not follow"
    EARLY = "called before its time"


@dataclass(frozen=True)
class ArmState:
    """Joint positions and velocities (7,), their time of arrival in seconds of the caller's clock, measured efforts."""

    position: FloatArray
    velocity: FloatArray
    time: float
    effort: FloatArray | None = None  # N m


@dataclass(frozen=True)
class SafeCommand:
    """The next setpoint and its velocity, the knots that bring the arm to rest, and the reasons for changes."""

    time: float  # s of the caller's clock, from which the knots count
    position: FloatArray
    velocity: FloatArray
    knots: tuple[Moment, ...]
    reasons: frozenset[Reason]
    latest: float  # s of the same clock until which it may be sent

    @property
    def at_rest(self) -> bool:
        return not self.velocity.any()


_Commanded = tuple[Plan | None, FloatArray, FloatArray]  # the driver's motion, the setpoint and its velocity


class SafetyFilter:
    """Checks every command between policy and robot; tracks the driver's state and counts changes."""

    def __init__(self, robot: Robot, speed_scale: float = 1.0) -> None:
        if not 0.0 < speed_scale <= 1.0:
            raise ValueError(f"speed_scale is {speed_scale}, above 0 and at most 1 is needed")
        self._robot = robot
        self._period = robot.period
        self._low = robot.position_low + _MARGIN
        self._high = robot.position_high - _MARGIN
        self.driver = driver_of(robot)
        by_velocity = robot.velocity * speed_scale * (1.0 - ROUNDING) - self.driver.reserve
        by_step = robot.max_step / self._period * (1.0 - ROUNDING)
        self._step_binds = by_step < by_velocity
        self._vmax = np.maximum(np.minimum(by_velocity, by_step), 0.0)
        self._speed_limit = replace(robot.speed_limit, share=speed_scale)
        self._approach = Approach(self._speed_limit, self.driver.change, self._period, self.driver.reserve)
        self._workspace = Workspace(robot)
        self._plan: Plan | None = None  # the driver's motion; None while the arm's position is unknown
        self._setpoint: FloatArray = np.full(JOINTS, np.nan)  # the last one; none before any command
        self._velocity: FloatArray = np.zeros(JOINTS)
        self._former: _Commanded = (None, self._setpoint, self._velocity)  # in case the newest is never sent
        self._possible: list[Plan] = []  # what the driver may hold: the last acknowledged command and those since
        self._setpoints: list[FloatArray] = []  # of the same commands; known also where the plans are forgotten
        self.delivered = True  # whether the driver has acknowledged the last command; set by the sender
        self._hold_first = self._held_first = False  # whether the next command, and the last one, may only hold
        self._time = -np.inf
        self._latest = np.inf
        self.calls = 0
        self.changed: Counter[Reason] = Counter()

    def forget(self) -> None:
        """Restart from the next measured position, after others may have moved the arm."""
        self._plan = None
        self._former = (None, self._setpoint, self._velocity)
        self._possible = []

    def resume(self, measured: FloatArray, *, moved: bool) -> None:
        """Resume after a stop from the driver's setpoint, if it is known and the arm was not `moved`.

        Of the possible setpoints, the nearest to the arm is assumed. If there are several, the first new command only
        holds, because two close ones cannot be distinguished.
        """
        self._note_arrival()
        self._hold_first = len(self._possible) > 1
        if moved or self.driver.meets or not 0 < len(self._possible) <= _POSSIBLE:
            self.forget()
        else:
            self._plan = min(self._possible, key=lambda plan: float(np.abs(plan.positions[-1] - measured).max()))

    @property
    def is_unsure(self) -> bool:
        """Whether the driver's setpoint is uncertain, because the last commands were not acknowledged."""
        return not self.delivered and len(self._possible) > 1

    def _note_arrival(self) -> None:
        if self.delivered and self._plan is not None:
            self._possible, self._setpoints = [self._plan], [self._setpoint]

    def sent(self, at: float) -> None:
        """Record when the last command was sent, shortly after its tick."""
        if self._plan is not None:
            self._plan = self.driver.sent(self._plan, at)
            self._possible[-1:] = [self._plan]

    def withdraw(self) -> None:
        """Undo the last command, which was not sent; the driver continues with the previous one."""
        if self._possible:
            self._possible.pop()
            self._setpoints.pop()
        self._plan, self._setpoint, self._velocity = self._former
        self._hold_first = self._held_first

    def commanded(self, state: ArmState) -> FloatArray:
        """The last setpoint, or the arm's position before any command."""
        return np.clip(state.position, self._low, self._high) if self._plan is None else self._setpoint.copy()

    def reference(self, now: float) -> FloatArray | None:
        """The driver's commanded state at `now`; None before any command."""
        return None if self._plan is None else self._plan.at(now).position

    def rest_time(self) -> float:
        """When the driver's motion ends."""
        return -np.inf if self._plan is None else self._plan.end

    def beyond_limits(self, position: FloatArray) -> float:
        """How far (rad) the worst joint of a position (7,) is outside its limits."""
        return float(np.maximum(self._low - position, position - self._high).max(initial=0.0))

    def filter(
        self, state: ArmState | None, proposed: FloatArray | None, now: float, *, retreat: bool = False
    ) -> SafeCommand | None:
        """Turn a proposed position (7,) into a safe one; no proposal means brake and hold.

        None until a first valid state: nothing can be commanded safely before. A `retreat` may continue although the
        arm does not follow, because it leads the driver back to the arm.
        """
        self.calls += 1
        self._note_arrival()
        reasons = self._doubts(state, now, retreat)
        former = self._plan, self._setpoint, self._velocity
        if self._plan is None:
            if reasons or state is None:
                self.changed.update(reasons)
                return None
            self._plan, self._hold_first = self._meet(state, now), not self.driver.meets
        elif not now - self._time >= self._period / 2.0 or self.driver.interrupts(self._plan, now):
            return self._too_early(self._plan, now)
        elif state is not None and not reasons and not self.delivered and now < self._plan.start:
            self._plan = self._meet(state, now)  # the driver may not know yet that it has to come here
        if proposed is not None and not _is_sound(proposed):
            reasons.add(Reason.BAD_PROPOSAL)
        self._held_first, self._hold_first = self._hold_first, False
        self._former, self._time = former, now
        self._move(self._plan, None if reasons or self._held_first else proposed, now, reasons)
        self._possible = [*self._possible[-_POSSIBLE:], self._plan]
        self._setpoints = [*self._setpoints[-_POSSIBLE:], self._setpoint]
        return self._command(reasons)

    def _meet(self, state: ArmState, now: float) -> Plan:
        """Start at the arm's position; a driver that was commanded before may still hold another one."""
        position = np.clip(state.position, self._low, self._high)
        distance = max((float(np.abs(held - position).max()) for held in self._setpoints), default=0.0)
        return self.driver.meet(position, distance, now)

    def _too_early(self, plan: Plan, now: float) -> SafeCommand:
        """Keep the driver's motion; after the clock was set back, continue as if no time had passed."""
        if np.isfinite(now) and now < self._time - self._period:
            self._possible = [possible.shifted(now - self._time) for possible in self._possible]
            self._plan, self._time = plan.shifted(now - self._time), now
        return self._command({Reason.EARLY})

    def _doubts(self, state: ArmState | None, now: float, retreat: bool) -> set[Reason]:
        """Reasons not to move at all."""
        if state is None or not np.isfinite(now) or not now - state.time <= self._robot.stale_after:
            return {Reason.STALE}
        if not _is_sound(state.position) or not _is_sound(state.velocity):
            return {Reason.BAD_STATE}
        if self._plan is None:
            # The first command would be a jump to the limit.
            return {Reason.BEYOND_LIMITS} if self.beyond_limits(state.position) > self._robot.max_step else set()
        if not retreat and np.abs(state.position - self._plan.at(now).position).max() > self._robot.max_lead:
            return {Reason.LEAD}
        return set()

    def _move(self, plan: Plan, proposed: FloatArray | None, now: float, reasons: set[Reason]) -> None:
        """Replace the plan by one towards `proposed` or, without it, by one that brakes."""
        start = self.driver.start(plan, now)
        self._latest = start.latest
        for velocity in self._candidates(plan, start, proposed, now, reasons):
            new = self.driver.plan(plan, start, velocity, now)
            if self._is_safe(new, start):
                self._plan, self._velocity = new, velocity
                self._setpoint = start.setpoint + velocity * self._period
                return
        self._plan = self.driver.stopped(plan, start, now)
        self._velocity = self._plan.at(start.moment.time + self._period).velocity
        self._setpoint = self._plan.positions[-1]

    def _candidates(
        self, plan: Plan, start: Start, proposed: FloatArray | None, now: float, reasons: set[Reason]
    ) -> Iterator[FloatArray]:
        """Velocities (7,) to try, best first: as proposed, along the workspace's border, slower, braking."""
        braked = np.clip(0.0, start.slowest, start.fastest)
        if proposed is not None:
            wanted = (np.clip(proposed, -1e6, 1e6) - start.setpoint) / self._period
            low, high = self._bounds(start, braked)
            velocity = np.clip(wanted, low, high)
            reasons |= self._binding(wanted, velocity, start)
            yield velocity
            reasons.add(Reason.WORKSPACE)
            straight = _towards(wanted, braked, low, high)
            slid = self._slide(self.driver.plan(plan, start, straight, now).positions[-1], straight, braked)
            for candidate in (straight, _towards(slid, braked, low, high)):
                yield from (braked + share * (candidate - braked) for share in _BLENDS)
        yield braked

    def _bounds(self, start: Start, braked: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The velocities (7,) from which every joint still stops in time; braking is always possible."""
        down, up = self._approach.fastest(start.setpoint, self._vmax)
        low = np.maximum(np.maximum(-down, start.slowest), -self._stoppable(start.setpoint - self._low))
        high = np.minimum(np.minimum(up, start.fastest), self._stoppable(self._high - start.setpoint))
        return np.minimum(low, braked), np.maximum(high, braked)

    def _stoppable(self, distance: FloatArray) -> FloatArray:
        """The greatest velocity for one period after which braking ends within `distance` of the setpoint.

        Braking in periods covers unit x f(m) from velocity m x change, f being linear between f(n) = n (n + 1) / 2.
        """
        change = self.driver.change
        y = np.maximum(distance, 0.0) / (change * self._period)
        n = np.floor((np.sqrt(1.0 + 8.0 * y) - 1.0) / 2.0)
        speed: FloatArray = change * (n + (y - n * (n + 1.0) / 2.0) / (n + 1.0))
        return np.maximum(speed, 0.0)

    def _binding(self, wanted: FloatArray, given: FloatArray, start: Start) -> set[Reason]:
        """The limits that changed the proposal, joint by joint."""
        changed = np.abs(wanted - given) > _REACHED
        if not changed.any():
            return set()
        at_speed = changed & (np.abs(given) >= self._vmax * (1.0 - ROUNDING))
        at_change = changed & ~at_speed & ((given <= start.slowest) | (given >= start.fastest))
        found = {
            Reason.STEP: at_speed & self._step_binds,
            Reason.VELOCITY: at_speed & ~self._step_binds,
            Reason.ACCELERATION: at_change,
            Reason.POSITION: changed & ~at_speed & ~at_change,
        }
        return {reason for reason, where in found.items() if where.any()}

    def _is_safe(self, plan: Plan, start: Start) -> bool:
        """Whether the way to rest keeps positions, velocities and the workspace."""
        positions, velocities = self.driver.path(plan, start)
        slack = _MARGIN / 2.0
        within = (positions >= self._low - slack).all() and (positions <= self._high + slack).all()
        slow = self._speed_limit.keeps(positions, velocities)
        return bool(within and slow and self._workspace.never_further_out(positions[:: self.driver.looks]))

    def _slide(self, end: FloatArray, velocity: FloatArray, braked: FloatArray) -> FloatArray:
        """Remove the part of a motion that leads further out of the workspace from its `end`."""
        way_out = self._workspace.way_out(end)
        steepness, outward = float(way_out @ way_out), float(way_out @ (velocity - braked))
        if steepness <= 0.0 or outward <= 0.0:
            return velocity
        slid: FloatArray = velocity - way_out * (outward / steepness)
        return slid

    def _command(self, reasons: set[Reason]) -> SafeCommand:
        self.changed.update(reasons)
        knots = () if self._plan is None else tuple(self._plan.between(self._time, np.inf))
        setpoint, velocity = self._setpoint.copy(), self._velocity.copy()
        return SafeCommand(self._time, setpoint, velocity, knots, frozenset(reasons), self._latest)


def _towards(wanted: FloatArray, braked: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """As far from `braked` towards `wanted` as the bounds allow: limited joint by joint, the hand would turn aside."""
    way = wanted - braked
    room = np.where(way > 0.0, high - braked, braked - low)
    share = np.min(room / np.maximum(np.abs(way), 1e-9))
    return np.asarray(np.clip(braked + min(share, 1.0) * way, low, high))


def _is_sound(values: NDArray[np.float64]) -> bool:
    return isinstance(values, np.ndarray) and values.shape == (JOINTS,) and bool(np.isfinite(values).all())
