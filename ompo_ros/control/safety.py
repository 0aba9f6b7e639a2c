"""The safety filter: whatever is proposed, what comes out is a motion the arm may make and can always stop.

Commands are setpoints one control period apart. After a command with velocity v the next velocity v' is chosen such
that |v'| <= velocity, |v' - v| <= acceleration x period, and braking from there at full acceleration ends within the
position limits and keeps the hand in the workspace. Braking is therefore always allowed: a safe command always exists.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.control.robot import JOINTS, Robot
from ompo_ros.control.workspace import Workspace
from ompo_ros.domains.kinematics import FloatArray

_MARGIN: Final = 1e-6  # share of each limit left to rounding
_REACHED: Final = 1e-9  # rad/s by which a proposal may miss a bound without being called changed
_BLENDS: Final = (1.0, 0.5, 0.25, 0.125)  # shares of a proposal tried at the workspace's border, before braking
_LONG_AGO: Final = 0.5  # s without a call after which the arm stands still at the last command


class Reason(str, Enum):
    """Why a command is not what was proposed."""

    POSITION = "position limit"
    VELOCITY = "velocity limit"
    STEP = "step size"
    ACCELERATION = "acceleration limit"
    JERK = "jerk limit"
    WORKSPACE = "workspace"
    BAD_PROPOSAL = "proposal not finite or of the wrong shape"
    BAD_STATE = "joint state not finite or of the wrong shape"
    STALE = "joint state stale"
    BEYOND_LIMITS = "arm beyond its joint limits"
    LEAD = "arm does not follow"
    EARLY = "called before its time"


@dataclass(frozen=True)
class ArmState:
    """Joint positions and velocities (7,), and when they were received, in seconds of the caller's clock."""

    position: FloatArray
    velocity: FloatArray
    time: float


@dataclass(frozen=True)
class SafeCommand:
    """The next setpoint, what was changed about it, and the setpoints (n, 7) after it that bring the arm to rest."""

    position: FloatArray
    velocity: FloatArray
    braking: FloatArray
    reasons: frozenset[Reason]

    @property
    def at_rest(self) -> bool:
        return not self.velocity.any()


class SafetyFilter:
    """Stands between policy and robot, always; remembers its last command and counts what it changed."""

    def __init__(self, robot: Robot, speed_scale: float = 1.0) -> None:
        if not 0.0 < speed_scale <= 1.0:
            raise ValueError(f"speed_scale is {speed_scale}, above 0 and at most 1 is needed")
        self._robot = robot
        self._period = robot.period
        self._low = robot.position_low + _MARGIN
        self._high = robot.position_high - _MARGIN
        # Between -a and a any change within one period keeps the jerk limit if 2 a <= jerk x period.
        by_jerk = robot.jerk * self._period / 2.0
        self._jerk_binds = by_jerk < robot.acceleration
        self._dv = np.minimum(robot.acceleration, by_jerk) * self._period * (1.0 - _MARGIN)
        by_step = robot.max_step / self._period
        self._step_binds = by_step < robot.velocity * speed_scale
        self._vmax = np.minimum(robot.velocity * speed_scale, by_step) * (1.0 - _MARGIN)
        self._workspace = Workspace(robot)
        self._anchored = False  # whether it is known where the arm is
        self._position: FloatArray = np.zeros(JOINTS)
        self._velocity: FloatArray = np.zeros(JOINTS)
        self._time = -np.inf
        self.calls = 0
        self.changed: Counter[Reason] = Counter()

    def forget(self) -> None:
        """Begin anew from where the arm is measured next: after it was moved by others, or stood disabled."""
        self._anchored = False

    def commanded(self, state: ArmState) -> FloatArray:
        """Where the arm was last told to be; before any command, where it is."""
        return self._position.copy() if self._anchored else np.clip(state.position, self._low, self._high)

    def beyond_limits(self, position: FloatArray) -> float:
        """How far (rad) the worst joint of a measured position (7,) is outside its limits."""
        return float(np.maximum(self._low - position, position - self._high).max(initial=0.0))

    def filter(self, state: ArmState | None, proposed: FloatArray | None, now: float) -> SafeCommand | None:
        """Turn a proposed position (7,) into a safe one; no proposal means brake and hold.

        None until a first sound state has told where the arm is: nothing can be commanded safely before.
        """
        self.calls += 1
        reasons = self._doubts(state, now)
        if not self._anchored:
            if reasons or state is None:
                self.changed.update(reasons)
                return None
            self._anchored = True
            self._position = np.clip(state.position, self._low, self._high)
            self._velocity = np.zeros(JOINTS)
        elif not now - self._time >= self._period / 2.0:
            if np.isfinite(now) and now < self._time - self._period:
                self._time = now  # the clock was set back: count from there
            return self._command({Reason.EARLY})
        elif now - self._time > _LONG_AGO:
            self._velocity = np.zeros(JOINTS)
        self._time = now
        if proposed is not None and not _is_sound(proposed):
            reasons.add(Reason.BAD_PROPOSAL)
        if proposed is None or reasons:
            self._velocity = self._braked(self._velocity)
        else:
            self._velocity = self._toward(proposed, reasons)
        self._position = self._position + self._velocity * self._period
        return self._command(reasons)

    def _doubts(self, state: ArmState | None, now: float) -> set[Reason]:
        """Reasons not to move at all."""
        if state is None or not np.isfinite(now) or not now - state.time <= self._robot.stale_after:
            return {Reason.STALE}
        if not _is_sound(state.position) or not _is_sound(state.velocity):
            return {Reason.BAD_STATE}
        if not self._anchored and self.beyond_limits(state.position) > self._robot.max_step:
            return {Reason.BEYOND_LIMITS}  # the first command would be a jump to the limit
        if self._anchored and np.abs(state.position - self._position).max() > self._robot.max_lead:
            return {Reason.LEAD}
        return set()

    def _toward(self, proposed: FloatArray, reasons: set[Reason]) -> FloatArray:
        wanted = (np.clip(proposed, -1e6, 1e6) - self._position) / self._period
        low, high = self._bounds()
        velocity = np.clip(wanted, low, high)
        reasons |= self._binding(wanted, velocity)
        return self._within_workspace(velocity, low, high, reasons)

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        """The velocities (7,) from which every joint still stops in time."""
        low = np.maximum(-self._vmax, self._velocity - self._dv)
        high = np.minimum(self._vmax, self._velocity + self._dv)
        # Rounding must not take away what the last command left open: braking.
        braked = self._braked(self._velocity)
        low = np.minimum(np.maximum(low, -self._stoppable(self._position - self._low)), braked)
        high = np.maximum(np.minimum(high, self._stoppable(self._high - self._position)), braked)
        return low, high

    def _stoppable(self, distance: FloatArray) -> FloatArray:
        """The greatest velocity for one period after which braking ends within `distance`.

        Braking in periods covers unit x f(m) from velocity m x dv, f being linear between f(n) = n (n + 1) / 2.
        """
        unit = self._dv * self._period
        y = np.maximum(distance, 0.0) / unit
        n = np.floor((np.sqrt(1.0 + 8.0 * y) - 1.0) / 2.0)
        speed: FloatArray = self._dv * (n + (y - n * (n + 1.0) / 2.0) / (n + 1.0))
        return np.maximum(speed, 0.0)

    def _braked(self, velocity: FloatArray) -> FloatArray:
        slower: FloatArray = np.sign(velocity) * np.maximum(np.abs(velocity) - self._dv, 0.0)
        return slower

    def _binding(self, wanted: FloatArray, given: FloatArray) -> set[Reason]:
        """Which limits made the difference, judged joint by joint."""
        changed = np.abs(wanted - given) > _REACHED
        if not changed.any():
            return set()
        at_speed = changed & (np.abs(given) >= self._vmax * (1.0 - _MARGIN))
        at_change = changed & ~at_speed & (np.abs(given - self._velocity) >= self._dv * (1.0 - _MARGIN))
        found = {
            Reason.STEP: at_speed & self._step_binds,
            Reason.VELOCITY: at_speed & ~self._step_binds,
            Reason.JERK: at_change & self._jerk_binds,
            Reason.ACCELERATION: at_change & ~self._jerk_binds,
            Reason.POSITION: changed & ~at_speed & ~at_change,
        }
        return {reason for reason, where in found.items() if where.any()}

    def _within_workspace(
        self, velocity: FloatArray, low: FloatArray, high: FloatArray, reasons: set[Reason]
    ) -> FloatArray:
        """Give way until braking ends in the workspace: slide along its border, then slow down, then brake."""
        if self._stays(velocity):
            return velocity
        reasons.add(Reason.WORKSPACE)
        braked = self._braked(self._velocity)
        for candidate in (np.clip(self._slide(velocity, braked), low, high), velocity):
            for share in _BLENDS:
                blended: FloatArray = braked + share * (candidate - braked)
                if self._stays(blended):
                    return blended
        return braked

    def _stays(self, velocity: FloatArray) -> bool:
        return bool(self._workspace.never_further_out(self._path(self._position, velocity)))

    def _slide(self, velocity: FloatArray, braked: FloatArray) -> FloatArray:
        """Take out of the motion what leads out of the workspace."""
        way_out = self._workspace.way_out(self._path(self._position, velocity)[-1])
        steepness, outward = float(way_out @ way_out), float(way_out @ (velocity - braked))
        if steepness <= 0.0 or outward <= 0.0:
            return velocity
        slid: FloatArray = velocity - way_out * (outward / steepness)
        return slid

    def _path(self, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """The setpoints from `position` (n, 7): one period at `velocity`, then braking to rest."""
        periods = int(np.ceil((np.abs(velocity) / self._dv).max() - _MARGIN))
        speeds = np.abs(velocity) - np.arange(max(periods, 1))[:, None] * self._dv
        steps = np.sign(velocity) * np.maximum(speeds, 0.0) * self._period
        return position + np.concatenate((np.zeros((1, JOINTS)), np.cumsum(steps, axis=0)))

    def _command(self, reasons: set[Reason]) -> SafeCommand:
        self.changed.update(reasons)
        braking = self._path(self._position, self._braked(self._velocity))[1:]
        return SafeCommand(self._position.copy(), self._velocity.copy(), braking, frozenset(reasons))


def _is_sound(values: NDArray[np.float64]) -> bool:
    return isinstance(values, np.ndarray) and values.shape == (JOINTS,) and bool(np.isfinite(values).all())
