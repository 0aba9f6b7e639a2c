"""Velocity limits that fall towards the ends of a joint's range, and the braking they ask for in advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.transitions import BoolArray

_HALVINGS: Final = 16  # of the interval that holds the answer
_ROUNDING: Final = 1e-9  # rad/s


@dataclass(frozen=True)
class SpeedLimit:
    """Each joint's largest speed (7,), by its distance from the end of its range that it moves towards.

    Within reach of an end it is sqrt(2 x deceleration x distance) - offset; the end is `low` or `high`.
    """

    highest: FloatArray  # rad/s, far from both ends
    low: FloatArray  # rad
    high: FloatArray
    deceleration: FloatArray  # rad/s^2
    offset: FloatArray  # rad/s
    share: float = 1.0  # of all this that may be used

    @staticmethod
    def constant(highest: FloatArray) -> SpeedLimit:
        """The same speed everywhere."""
        endless = np.full_like(highest, np.inf)
        return SpeedLimit(highest, -endless, endless, np.ones_like(highest), np.zeros_like(highest))

    def distances(self, positions: FloatArray) -> FloatArray:
        """How far positions (..., 7) are from the low and from the high end, as (2, ..., 7)."""
        return np.stack((positions - self.low, self.high - positions))

    def at(self, distances: FloatArray) -> FloatArray:
        """The speed limits (..., 7) at these distances from an end."""
        falling = np.sqrt(2.0 * self.deceleration * np.maximum(distances, 0.0)) - self.offset
        return np.asarray(self.share * np.minimum(self.highest, np.maximum(falling, 0.0)))

    def keeps(self, positions: FloatArray, velocities: FloatArray) -> bool:
        """Whether velocities (n, 7) keep the limits at positions (n, 7)."""
        down, up = self.at(self.distances(positions)) + _ROUNDING
        return bool((velocities <= up).all() and (velocities >= -down).all())


@dataclass(frozen=True)
class Approach:
    """How fast joints may go for one period so that braking afterwards, period by period, keeps the limit."""

    limit: SpeedLimit
    change: FloatArray  # (7,) rad/s by which a period of braking slows down
    period: float  # s
    reserve: FloatArray  # (7,) rad/s of the limit left unused

    def fastest(self, positions: FloatArray, highest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The largest speeds (..., 7) down and up from positions (..., 7), none above `highest` (7,)."""
        distances = self.limit.distances(positions)
        fast = np.broadcast_to(highest, distances.shape)
        speeds = fast if self._ends_in_time(fast, distances).all() else self._searched(fast, distances)
        return speeds[0], speeds[1]

    def _searched(self, fast: FloatArray, distances: FloatArray) -> FloatArray:
        """Halve the interval: if one speed can be braked in time, so can every lower one."""
        slow = np.zeros_like(distances)
        for _ in range(_HALVINGS):
            middle = (slow + fast) / 2.0
            possible = self._ends_in_time(middle, distances)
            slow, fast = np.where(possible, middle, slow), np.where(possible, fast, middle)
        return slow

    def _ends_in_time(self, speeds: FloatArray, distances: FloatArray) -> BoolArray:
        """Whether each period's speed keeps the limit where the period ends."""
        periods = np.arange(1 + int(np.ceil((speeds / self.change).max())))
        slowing = np.maximum(speeds - periods.reshape(-1, *[1] * speeds.ndim) * self.change, 0.0)
        left = distances - self.period * np.cumsum(slowing, axis=0)
        allowed = np.maximum(self.limit.at(left) - self.reserve, 0.0)
        return np.asarray((slowing <= allowed).all(axis=0))
