"""Sends commands to a robot's driver: in time or not at all, and knows which of them arrived."""

from __future__ import annotations

import time
from typing import Final

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time

from ompo_ros.control.robot import Robot
from ompo_ros.control.safety import SafeCommand
from ompo_ros.nodes.robot_topics import command_to_msg, command_type

_LIFE: Final = 2.0  # periods after which a command that did not arrive is dropped: an old one moves an arm that stands
_AT_ONCE: Final = Duration(seconds=0)


class Commands:
    """The publisher of one arm's commands."""

    def __init__(self, node: Node, robot: Robot, topic: str) -> None:
        self._robot = robot
        self._life = _LIFE * robot.period
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, lifespan=Duration(seconds=self._life))
        self._publisher = node.create_publisher(command_type(robot), topic, qos)
        self._sent = 0.0
        self._arrived = True

    def send(self, command: SafeCommand, stamp: Time) -> None:
        """Publish a command; `stamp` is the time of its tick on the clock that its driver knows."""
        self._publisher.publish(command_to_msg(self._robot, command, stamp.to_msg()))
        self._sent, self._arrived = time.monotonic(), False

    def arrived(self) -> bool:
        """Whether all who listen have acknowledged the last command; one that expired before did not arrive."""
        if not self._arrived and time.monotonic() - self._sent < self._life:
            self._arrived = bool(self._publisher.wait_for_all_acked(_AT_ONCE))
        return self._arrived
