"""Models of robot drivers: their motion between commands and after the last one. The filter plans from there.

Forward: the arm goes to each setpoint within a control period and stops there. A setpoint is a step, so limits hold
from setpoint to setpoint. Trajectory: the driver plays the knots of each message, which end at rest. A newer message
takes over without a jump, because it begins with the remaining part of the older one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from ompo_ros.control.plan import Moment, Plan
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot

ROUNDING: Final = 1e-6  # share of each limit reserved for rounding
LEAD: Final = 0.02  # s that a trajectory may take to reach its driver: it changes nothing before
_ON_TIME: Final = 0.25  # share of a period that a setpoint may be early or late, since no loop's ticks are exact
_UNKNOWN: Final = 0.05  # rad between a driver's position and the measured one at first contact
_MEET: Final = 0.2  # s, the least time to move it there
_PEAK_SPEED: Final = 1.875  # of a quintic from rest to rest, relative to its mean speed
_PEAK_ACCELERATION: Final = 5.7735  # relative to distance / duration^2


@dataclass(frozen=True)
class Start:
    """The arm's state when the next command can act, and the possible changes of velocity (7,) in that step."""

    moment: Moment
    setpoint: FloatArray  # (7,) where it would come to rest, without the braking of its velocity
    slowest: FloatArray
    fastest: FloatArray
    latest: float  # s of the caller's clock; valid for commands sent before


class Driver(Protocol):
    """One kind of driver; `change` (7,) is the largest change of velocity per period, `reserve` the unused speed."""

    change: FloatArray
    reserve: FloatArray
    delay: float  # s from a tick to the braking after its command, if no other command follows
    looks: int  # points of a path in each period
    meets: bool  # whether it moves smoothly from any position to a trajectory's first point

    def meet(self, position: FloatArray, distance: float, now: float) -> Plan:
        """The driver's motion to a measured position from up to `distance` (rad) away."""

    def interrupts(self, plan: Plan, now: float) -> bool:
        """Whether a command at `now` would interrupt a motion whose course is not known exactly."""

    def start(self, plan: Plan, now: float) -> Start: ...

    def plan(self, plan: Plan, start: Start, velocity: FloatArray, now: float) -> Plan:
        """The driver's motion if commanded to change to `velocity` within the next step."""

    def sent(self, plan: Plan, at: float) -> Plan:
        """The driver's motion for a command that was sent later than its tick."""

    def stopped(self, plan: Plan, start: Start, now: float) -> Plan:
        """The fallback if no other motion passes the checks."""

    def path(self, plan: Plan, start: Start) -> tuple[FloatArray, FloatArray]:
        """Positions and velocities (n, 7) from the start to rest, `looks` per period."""


class ForwardDriver:
    """A driver for setpoints: linear from one to the next within a period, then it holds."""

    looks = 1
    meets = False

    def __init__(self, robot: Robot) -> None:
        self._period = robot.period
        # Between -a and a any change within one period keeps the jerk limit if 2 a <= jerk x period.
        acceleration = np.minimum(robot.acceleration, robot.jerk * robot.period / 2.0)
        self.change = acceleration * robot.period * (1.0 - ROUNDING)
        self.reserve: FloatArray = np.zeros(JOINTS)
        self.delay = robot.period

    def meet(self, position: FloatArray, distance: float, now: float) -> Plan:
        return self._towards(position, np.zeros(JOINTS), now)

    def interrupts(self, plan: Plan, now: float) -> bool:
        """True until the last setpoint is nearly reached: before that, the arm's position is not known well enough."""
        return now < plan.start + (1.0 - _ON_TIME) * self._period

    def start(self, plan: Plan, now: float) -> Start:
        over = plan.start + (1.0 + _ON_TIME) * self._period  # when the arm has stopped
        velocity = np.zeros(JOINTS) if now > over else plan.velocities[-1]
        latest = min(now + _ON_TIME * self._period, over if velocity.any() else np.inf)
        moment = Moment(now, plan.positions[-1], velocity, np.zeros(JOINTS))
        return Start(moment, moment.position, velocity - self.change, velocity + self.change, latest)

    def plan(self, plan: Plan, start: Start, velocity: FloatArray, now: float) -> Plan:
        return self._towards(start.moment.position, velocity, now)

    def sent(self, plan: Plan, at: float) -> Plan:
        """A setpoint carries no time: the motion begins when it arrives."""
        return plan.shifted(at - plan.start)

    def stopped(self, plan: Plan, start: Start, now: float) -> Plan:
        """Brake: every accepted command leaves room for this."""
        return self._towards(start.moment.position, np.clip(0.0, start.slowest, start.fastest), now)

    def path(self, plan: Plan, start: Start) -> tuple[FloatArray, FloatArray]:
        """One period at the plan's velocity, then braking over periods, if we can still send commands."""
        velocity = plan.velocities[-1]
        periods = int(np.ceil((np.abs(velocity) / self.change).max() - ROUNDING))
        speeds = np.abs(velocity) - np.arange(max(periods, 1))[:, None] * self.change
        velocities = np.sign(velocity) * np.maximum(speeds, 0.0)
        steps = np.cumsum(velocities, axis=0) * self._period
        positions = start.moment.position + np.concatenate((np.zeros((1, JOINTS)), steps))
        return positions, np.concatenate((velocity[None], velocities))  # each with the setpoint it leads to

    def _towards(self, position: FloatArray, velocity: FloatArray, now: float) -> Plan:
        """The plan and the motion end after a period: `Plan` stops there at once, as the driver does."""
        still = np.zeros(JOINTS)
        end = position + velocity * self._period
        return Plan.of([Moment(now, position, velocity, still), Moment(now + self._period, end, velocity, still)])


class TrajectoryDriver:
    """Plays knots: each step is a trapezoid of acceleration with the same corners for all joints, then it brakes.

    The first ramp takes two `ramp`s, so that the jerk limit is kept from any acceleration to any other; the last one
    leads to none. A cubic through such knots, or the quintic of a JointTrajectoryController, is exactly this motion.
    """

    looks = 4
    meets = True

    def __init__(self, robot: Robot) -> None:
        self._period = period = robot.period
        self.delay = period + LEAD
        self._ramp = ramp = min(float((robot.acceleration / robot.jerk).max()), period / 4.0)
        self._acceleration = np.minimum(robot.acceleration, robot.jerk * ramp) * (1.0 - ROUNDING)
        self._speed_limit = robot.speed_limit
        self._effective = period - 1.5 * ramp  # s at full acceleration that correspond to one step
        self.change = self._acceleration * self._effective
        self.reserve = self._acceleration * ramp  # a step may begin with an acceleration that has to fade
        # What a step adds to the position, per initial acceleration and per plateau; the rest is velocity x period.
        self._by_initial = ramp * (period - 2.0 * ramp) + 4.0 / 3.0 * ramp**2
        plateau = period - 3.0 * ramp
        self._by_plateau = ramp**2 + ramp * plateau + plateau**2 / 2.0 + (period - 2.0 * ramp) * ramp
        self._share = self._by_plateau / self._effective  # s of a velocity's change covered within a step

    def meet(self, position: FloatArray, distance: float, now: float) -> Plan:
        """One knot at rest, late enough that the spline from the driver's position keeps the limits."""
        way = distance + _UNKNOWN
        by_acceleration = np.sqrt(_PEAK_ACCELERATION * way / self._acceleration).max()
        # The peak is halfway, and the way may lead towards either end of a joint's range.
        peak = self._speed_limit.at(self._speed_limit.distances(position) + way / 2.0)
        duration = max(float(by_acceleration), float((_PEAK_SPEED * way / peak).max()), _MEET)
        still = np.zeros(JOINTS)
        return Plan.of([Moment(now + duration, position, still, still)])

    def interrupts(self, plan: Plan, now: float) -> bool:
        """Never: a newer message begins with the remaining part of the older one."""
        return False

    def start(self, plan: Plan, now: float) -> Start:
        moment = plan.at(max(now + LEAD, plan.start))
        fade = moment.acceleration * self._ramp
        setpoint = (
            moment.position
            + moment.velocity * (self._period - self._share)
            + moment.acceleration * (self._by_initial - self._ramp * self._share)
        )
        reached = moment.velocity + fade
        return Start(moment, setpoint, reached - self.change, reached + self.change, now + LEAD / 2.0)

    def plan(self, plan: Plan, start: Start, velocity: FloatArray, now: float) -> Plan:
        before = [*([plan.at(now)] if now >= plan.start else []), *plan.between(now, start.moment.time)]
        knots = [*before, start.moment, *self._step(start.moment, velocity)]
        while velocity.any():
            velocity = np.sign(velocity) * np.maximum(np.abs(velocity) - self.change, 0.0)
            knots += self._step(knots[-1], velocity)
        return Plan.of(knots)

    def sent(self, plan: Plan, at: float) -> Plan:
        """Unchanged: knots are stamped."""
        return plan

    def stopped(self, plan: Plan, start: Start, now: float) -> Plan:
        """Keep the driver's current motion, which ends at rest."""
        return plan

    def path(self, plan: Plan, start: Start) -> tuple[FloatArray, FloatArray]:
        times = np.arange(start.moment.time, plan.end + self._period, self._period / self.looks)
        return plan.sample(times)

    def _step(self, moment: Moment, velocity: FloatArray) -> list[Moment]:
        """The three corners of a step to `velocity`, the last one without acceleration."""
        ramp, period = self._ramp, self._period
        plateau = (velocity - moment.velocity - moment.acceleration * ramp) / self._effective
        rising = _ramped(moment, plateau, 2.0 * ramp)
        constant = _ramped(rising, plateau, period - 3.0 * ramp)
        falling = _ramped(constant, np.zeros(JOINTS), ramp)
        return [rising, constant, Moment(falling.time, falling.position, velocity, falling.acceleration)]


def driver_of(robot: Robot) -> Driver:
    """The driver model named by the robot's preset."""
    return TrajectoryDriver(robot) if robot.driver.command_interface == "joint_trajectory" else ForwardDriver(robot)


def _ramped(moment: Moment, acceleration: FloatArray, duration: float) -> Moment:
    """The state after a linear change to `acceleration`."""
    mean = (moment.acceleration + acceleration) / 2.0
    velocity = moment.velocity + mean * duration
    way = moment.velocity * duration + (2.0 * moment.acceleration + acceleration) * duration**2 / 6.0
    return Moment(moment.time + duration, moment.position + way, velocity, acceleration)
