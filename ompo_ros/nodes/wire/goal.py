"""Where the arm, or its cube, is to go: for whoever watches."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PointStamped
from rclpy.node import Node

from ompo_ros.nodes.wire import qos
from ompo_ros.task.kinematics import FloatArray

TOPIC = "target/goal"


class GoalPublisher:
    """Publishes a goal when it changes; who joins late gets the last one."""

    def __init__(self, node: Node, frame: str) -> None:
        self._node, self._frame = node, frame
        self._publisher = node.create_publisher(PointStamped, TOPIC, qos.LATCHED)
        self._last: FloatArray | None = None

    def publish(self, goal: FloatArray | None) -> None:
        """Send a goal (3,), unless it is the last one."""
        if goal is None or (self._last is not None and np.array_equal(goal, self._last)):
            return
        self._last = goal
        self._publisher.publish(goal_msg(self._node, self._frame, goal))


def goal_msg(node: Node, frame: str, goal: FloatArray) -> PointStamped:
    """A place (3,) in a frame, stamped now."""
    msg = PointStamped()
    msg.header.stamp, msg.header.frame_id = node.get_clock().now().to_msg(), frame
    msg.point.x, msg.point.y, msg.point.z = goal.tolist()
    return msg
