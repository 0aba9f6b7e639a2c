"""The clock that control runs on, and the stamps of its commands."""

from __future__ import annotations

import time
from typing import Final

from rclpy.clock import Clock
from rclpy.node import Node
from rclpy.time import Time

from ompo_ros.nodes.wire.process import STEADY

_SET: Final = 5_000_000  # ns; more than a clock's drift between two commands
_DRIFT: Final = 2_000  # ns by which stamps follow a drift at each command


class LoopClock:
    """Seconds of a monotonic clock, or simulated seconds if time is simulated.

    A driver counts points from their stamp, and a stamp that is off by a millisecond makes the arm jerk. So stamps are
    the machine's clock without the jitter of two readings. A drifting clock is followed slowly, one that was set
    at once.
    """

    def __init__(self, node: Node) -> None:
        self._ros = node.get_clock()
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        self._offset = _offset()

    @property
    def for_timer(self) -> Clock:
        """The clock for the loop's timer."""
        return self._ros if self._simulated else STEADY

    def now(self) -> float:
        return float(self._ros.now().nanoseconds) * 1e-9 if self._simulated else time.monotonic()

    def stamp(self, now: float) -> Time:
        """The stamp of `now` for the driver."""
        if self._simulated:
            return Time(nanoseconds=round(now * 1e9))
        error = _offset() - self._offset
        self._offset += error if abs(error) > _SET else max(-_DRIFT, min(error, _DRIFT))
        return Time(nanoseconds=round(now * 1e9) + self._offset)


def _offset() -> int:
    """Nanoseconds from the monotonic clock to the machine's, from the quickest of three readings."""
    readings = []
    for _ in range(3):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        readings.append((after - before, wall - (before + after) // 2))
    return min(readings)[1]
