"""The cube's position from an object tracker: recent, and in the base frame."""

from __future__ import annotations

import time
from typing import Final

import numpy as np
from geometry_msgs.msg import PointStamped
from rclpy.node import Node

from ompo_ros.nodes.wire.robot_topics import STATES, topic_in
from ompo_ros.task.kinematics import FloatArray

_SILENCE: Final = 1.0  # s after which the cube may be anywhere
_FAR: Final = 10.0  # m; beyond an arm's reach


class Cube:
    """The cube's newest position."""

    def __init__(self, node: Node, namespace: str, frame: str) -> None:
        self._node, self._frame = node, frame
        self._position: FloatArray | None = None
        self._heard = 0.0
        node.create_subscription(PointStamped, topic_in(namespace, "cube"), self._on_cube, STATES)

    @property
    def position(self) -> FloatArray | None:
        """Its position (3,), unless the topic is silent."""
        return self._position if time.monotonic() - self._heard < _SILENCE else None

    def _on_cube(self, msg: PointStamped) -> None:
        position = np.array([msg.point.x, msg.point.y, msg.point.z])
        if msg.header.frame_id != self._frame:
            self._node.get_logger().warning(
                f"cube refused: its frame is {msg.header.frame_id!r}, {self._frame!r} is needed",
                throttle_duration_sec=5.0,
            )
        elif (np.abs(position) < _FAR).all():
            self._position, self._heard = position, time.monotonic()
