"""Sends commands to a robot's driver: in time or not at all, and knows which of them arrived."""

from __future__ import annotations

import time
from enum import Enum
from typing import Final

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time

from ompo_ros.control.safety import SafeCommand
from ompo_ros.nodes.wire.robot_topics import command_to_msg, command_type
from ompo_ros.task.robot import Robot

_LIFE: Final = 2.0  # periods after which a command that did not arrive is dropped: an old one moves an arm that stands
_SLACK: Final = 0.01  # s that publishing may take
_SET: Final = 5_000_000  # ns by which a clock does not drift between two commands
_DRIFT: Final = 2_000  # ns by which stamps follow a drift, each time
_AT_ONCE: Final = Duration(seconds=0)


class Delivery(Enum):
    """What has become of the last command."""

    ARRIVED = "acknowledged by all who listen"
    PENDING = "not yet acknowledged"
    LOST = "expired before it was acknowledged"


class Stamps:
    """The machine's clock for times of the monotonic one, without the shaking of two readings.

    A driver counts points from their stamp, and a stamp that is off by a millisecond makes the arm jerk. A clock that
    drifts is followed slowly, one that was set at once.
    """

    def __init__(self) -> None:
        self._offset = _offset()

    def stamp(self, now: float) -> Time:
        """Give the stamp of `now`, in seconds of the monotonic clock."""
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


class Commands:
    """The publisher of one arm's commands."""

    def __init__(self, node: Node, robot: Robot, topic: str) -> None:
        self._robot = robot
        self._life = _LIFE * robot.period
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, lifespan=Duration(seconds=self._life))
        self._publisher = node.create_publisher(command_type(robot), topic, qos)
        self._sent = 0.0
        self._delivery = Delivery.ARRIVED
        self._missed = False  # an acknowledgement of the last command

    def send(self, command: SafeCommand, stamp: Time, due: float) -> bool:
        """Publish a command unless it is past `due` (monotonic s); `stamp` is its tick on the driver's clock.

        One that was out far too late, because this node was stopped meanwhile, counts as lost.
        """
        message = command_to_msg(self._robot, command, stamp.to_msg())
        if time.monotonic() > due:
            return False
        self._publisher.publish(message)
        self._sent, self._delivery, self._missed = time.monotonic(), Delivery.PENDING, False
        if self._sent > due + _SLACK:
            self._delivery = Delivery.LOST
        return True

    def delivery(self) -> Delivery:
        """Whether the last command arrived; look at it every period.

        An expired command is acknowledged by nobody any more. Where nobody looked before, because this node itself was
        stopped, it has most likely arrived.
        """
        if self._delivery is Delivery.PENDING:
            if time.monotonic() - self._sent > self._life:
                self._delivery = Delivery.LOST if self._missed else Delivery.ARRIVED
            elif self._publisher.wait_for_all_acked(_AT_ONCE):
                self._delivery = Delivery.ARRIVED
            else:
                self._missed = True
        return self._delivery
