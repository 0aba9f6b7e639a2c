"""Publishes commands to a robot's driver, in time or not at all, and tracks which of them arrived."""

from __future__ import annotations

import time
from enum import Enum
from typing import Final

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time

from ompo_ros.control.safety import SafeCommand
from ompo_ros.nodes.wire.onlookers import has_driver
from ompo_ros.nodes.wire.robot_topics import command_to_msg, command_type
from ompo_ros.task.robot import Robot

_LIFE: Final = 2.0  # periods after which an undelivered command is dropped: an old one could move a standing arm
_SLACK: Final = 0.01  # s that publishing may take
_AT_ONCE: Final = Duration(seconds=0)


class Delivery(Enum):
    """State of the last command."""

    ARRIVED = "acknowledged by all who listen"
    PENDING = "not yet acknowledged"
    LOST = "expired before it was acknowledged"


class Commands:
    """The publisher of one arm's commands."""

    def __init__(self, node: Node, robot: Robot, topic: str) -> None:
        self._node, self._robot = node, robot
        self._life = _LIFE * robot.period
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, lifespan=Duration(seconds=self._life))
        self._publisher = node.create_publisher(command_type(robot), topic, qos)
        self._left = 0.0
        self._delivery = Delivery.ARRIVED
        self._missed = False  # an acknowledgement of the last command
        self.lost = 0  # commands in a row
        self._listeners, self._is_heard = 0, False
        self._with_driver = 0  # listeners when a driver was last among them
        self._taken = False  # whether it was sent commands

    @property
    def is_heard(self) -> bool:
        """Whether a driver listens: onlookers and nobody at all acknowledge everything."""
        if (listeners := self._publisher.get_subscription_count()) != self._listeners:
            self._listeners = listeners
            self.look()
        return self._is_heard

    def look(self) -> None:
        """Look who listens; too slow for every tick, but a name may come late."""
        connected = self._publisher.get_subscription_count()
        self._is_heard = has_driver(self._node, self._publisher)
        if self._is_heard:
            self._with_driver = connected

    def desertion(self) -> bool:
        """Whether a driver that took commands has left; True once.

        An onlooker passes for a driver until its name is known; then nobody has left.
        """
        deserted = self._taken and not self._is_heard and self._listeners < self._with_driver
        self._taken = self._taken and self._is_heard
        return deserted

    def send(self, command: SafeCommand, stamp: Time, due: float) -> float | None:
        """Publish a command unless it is past `due`, and return when it was sent (both monotonic s).

        `stamp` is its tick on the driver's clock. A command sent far too late, because this node was stopped meanwhile,
        counts as lost.
        """
        message = command_to_msg(self._robot, command, stamp.to_msg())
        left = time.monotonic()
        if left > due:
            return None
        self._publisher.publish(message)
        self._taken = True
        late = time.monotonic() > due + _SLACK
        self._left, self._missed = left, False
        self._delivery = Delivery.LOST if late else Delivery.PENDING
        self.lost += late
        return left

    def delivery(self) -> Delivery:
        """Whether the last command arrived; call it every period.

        DDS waits for no acknowledgement of an expired command, so its answer counts only if it came before that. If
        this node itself was stopped and did not check in time, the command has most likely arrived.
        """
        if self._delivery is Delivery.PENDING:
            acknowledged = self._publisher.wait_for_all_acked(_AT_ONCE)
            if time.monotonic() - self._left >= self._life:
                self._delivery = Delivery.LOST if self._missed else Delivery.ARRIVED
            elif acknowledged:
                self._delivery = Delivery.ARRIVED
            else:
                self._missed = True
            if self._delivery is not Delivery.PENDING:
                self.lost = self.lost + 1 if self._delivery is Delivery.LOST else 0
        return self._delivery
