"""Turns setpoints, a control period apart, into a motion that is continuous in acceleration and within limits.

The motion follows the quadratic B-spline of the setpoints: halfway between two of them it has their mean velocity. It
therefore needs no more acceleration than the setpoints themselves, and passes none of them by more than it needs to
brake. Without a newer setpoint it comes to rest at the last one. It begins where the robot stands: a sender that was
not told of a stop may believe it elsewhere, and that distance is closed slowly.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import ruckig

from ompo_ros.fci.limits import Limits
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS

CYCLE: Final = 0.001  # s between two commands to the robot
_LATE: Final = 1.5  # periods; a motion that needs longer to a setpoint stops there, since the next may be anywhere
_GENTLE: Final = 1.5  # times the mean acceleration to a setpoint: otherwise the profile is short jolts and coasting
_SLACK: Final = 0.5  # rad/s^2 besides
_RAMP: Final = 0.125  # share of a period in which a gentle acceleration rises
_CHECKED: Final = (0.25, 0.5, 0.75)  # of a plan's duration, where its speed is checked against limits that fall
_CREEP: Final = 0.02  # rad/s; the slowest velocity limit of a joint that coasts to its setpoint
_MET: Final = 0.02  # rad between first setpoint and arm; a step of this size takes no more than 0.45 rad/s
_MEETING: Final = 0.2  # rad/s at which a greater distance is closed
_PAUSE: Final = 4.5  # periods without a setpoint, after which one that is still being met is met anew: more than losses
_LONGEST_PAUSE: Final = 10.0  # periods that a change of setpoint may be spread over
_STILL: Final = [0.0] * JOINTS


class UnfitSetpoint(ValueError):
    """Not seven finite positions."""


class Motion:
    """The commanded position, velocity and acceleration of every cycle; times are in s of the caller's clock."""

    def __init__(self, limits: Limits, period: float, position: FloatArray) -> None:
        self._limits, self._period = limits, period
        self._generator = ruckig.Ruckig(JOINTS)
        self._plan = ruckig.Trajectory(JOINTS)
        self._elapsed = 0.0  # s since the plan's start
        self._coasts = True  # whether the plan ends at rest
        self._offset: FloatArray | None = None  # rad to the setpoints, from where the motion began; None before any
        self._goal = self._way = position.copy()  # the last setpoint, and the same with what is left of the offset
        self._passing = np.zeros(JOINTS)  # rad/s at the goal
        self._last_at = -np.inf
        self.position: list[float] = position.tolist()
        self.velocity, self.acceleration = _STILL, _STILL
        self._plan_rest(self._goal)

    @property
    def at_rest(self) -> bool:
        """Whether the arm stands at its last setpoint."""
        return self._coasts and self._elapsed >= self._plan.duration

    def resume(self, position: list[float], velocity: list[float], acceleration: list[float]) -> None:
        """Continue from where the robot itself has gone after lost cycles, even if that is faster than allowed."""
        self.position, self.velocity, self.acceleration = position, velocity, acceleration
        left = self._plan.duration - self._elapsed
        if self._coasts:
            self._plan_rest(self._goal, coast=self._meets)
        elif not self._plan_passage(self._way, self._passing, max(left, CYCLE)):
            self._stop_on_the_way()

    def setpoint(self, position: FloatArray, now: float) -> None:
        """Go for a newer setpoint."""
        if position.shape != (JOINTS,) or not np.isfinite(position).all():
            raise UnfitSetpoint(f"a setpoint needs {JOINTS} finite positions, got {position.tolist()}")
        goal = np.clip(position, self._limits.low, self._limits.high)
        since = min(max(now - self._last_at, self._period), _LONGEST_PAUSE * self._period)
        if self._meets and since > _PAUSE * self._period:  # the arm has gone on towards the goal by itself
            self._offset, self._way = None, np.array(self.position)
        self._offset = self._offset_to(goal, since)
        way = np.clip(goal + self._offset, self._limits.low, self._limits.high)
        velocity = (way - self._way) / since
        self._goal, self._way = goal, way
        self._passing, self._last_at = velocity, now
        if not self._plan_passage(way, velocity, self._period):
            self._stop_on_the_way()

    def _offset_to(self, goal: FloatArray, since: float) -> FloatArray:
        if self._offset is None:
            offset = np.array(self.position) - goal
            return offset if np.abs(offset).max() > _MET else np.zeros(JOINTS)
        return np.asarray(np.sign(self._offset) * np.maximum(np.abs(self._offset) - _MEETING * since, 0.0))

    @property
    def _meets(self) -> bool:
        return self._offset is not None and bool(self._offset.any())

    def advance(self, seconds: float = CYCLE) -> list[float]:
        """The position (7,) to command after `seconds`."""
        self._elapsed += seconds
        over = self._elapsed - self._plan.duration
        if over > 0.0 and not self._coasts:
            self._take(self._plan.duration)
            self._plan_rest(self._goal, coast=True)
            self._elapsed = over
        self._take(self._elapsed)
        return self.position

    def _plan_passage(self, goal: FloatArray, velocity: FloatArray, duration: float) -> bool:
        """Plan to half a period before `goal` at `velocity`, so that a next setpoint finds the arm moving."""
        limits, half = self._limits, velocity * (self._period / 2.0)
        down, up = limits.speeds(np.array(self.position), goal)
        if (velocity > up).any() or (velocity < -down).any():
            return False
        request = self._request(goal - half, velocity.tolist())
        # Where the limit falls towards a joint's end, the arm arrives faster than it may leave.
        request.max_velocity = np.maximum(up, self.velocity).tolist()
        request.min_velocity = np.minimum(-down, self.velocity).tolist()
        request.minimum_duration = duration
        mean = np.abs(velocity - self.velocity) / duration
        gentle = np.clip(_GENTLE * mean + _SLACK, np.abs(self.acceleration), limits.acceleration)
        rate = np.minimum(gentle / (_RAMP * self._period), limits.jerk)
        for acceleration, jerk in ((gentle, rate), (limits.acceleration, limits.jerk)):
            request.max_acceleration, request.max_jerk = acceleration.tolist(), jerk.tolist()
            plan = self._planned(request)
            if plan is not None and plan.duration < _LATE * self._period and self._keeps_speed(plan):
                self._plan, self._elapsed, self._coasts = plan, 0.0, False
                return True
        return False

    def _keeps_speed(self, plan: ruckig.Trajectory) -> bool:
        moments = [plan.at_time(share * plan.duration) for share in _CHECKED]
        positions, velocities = (np.array([moment[i] for moment in moments]) for i in (0, 1))
        return self._limits.speed.keeps(positions, velocities)

    def _stop_on_the_way(self) -> None:
        """Plan to rest where the arm cannot pass the last setpoint; what is left of the offset is closed after that."""
        self._plan_rest(self._way)
        self._coasts = not self._meets

    def _plan_rest(self, goal: FloatArray, *, coast: bool = False) -> None:
        """Plan to rest at `goal`: as fast as allowed, or coasting: no faster than now, or slowly to meet it."""
        velocity = np.array(self.velocity)
        down, up = self._limits.speeds(np.array(self.position), goal)
        if coast:
            least = _MEETING if self._meets else _CREEP
            down, up = (np.minimum(speed, np.maximum(np.abs(velocity), least)) for speed in (down, up))
        request = self._request(goal, _STILL)
        request.max_velocity, request.min_velocity = up.tolist(), (-down).tolist()
        request.synchronization = ruckig.Synchronization.No
        plan = self._planned(request)
        if plan is None:  # rounding, in rare cases: stop where the arm is
            request.control_interface = ruckig.ControlInterface.Velocity
            plan = self._planned(request)
        if plan is None:
            raise RuntimeError(f"no motion from {self.position}, {self.velocity}, {self.acceleration}")
        self._plan, self._elapsed, self._coasts = plan, 0.0, True

    def _planned(self, request: ruckig.InputParameter) -> ruckig.Trajectory | None:
        plan = ruckig.Trajectory(JOINTS)
        try:
            return plan if self._generator.calculate(request, plan) >= 0 else None
        except ruckig.RuckigError:
            return None

    def _request(self, goal: FloatArray, velocity: list[float]) -> ruckig.InputParameter:
        request = ruckig.InputParameter(JOINTS)
        request.current_position, request.current_velocity = self.position, self.velocity
        request.current_acceleration = self.acceleration
        request.target_position, request.target_velocity = goal.tolist(), velocity
        request.target_acceleration = _STILL
        request.max_acceleration, request.max_jerk = self._limits.acceleration.tolist(), self._limits.jerk.tolist()
        return request

    def _take(self, elapsed: float) -> None:
        self.position, self.velocity, self.acceleration = self._plan.at_time(min(elapsed, self._plan.duration))
