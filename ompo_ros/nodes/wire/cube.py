"""The cube's position from an object tracker: recent, newly measured, and in the base frame."""

from __future__ import annotations

import time
from typing import Final

import numpy as np
from geometry_msgs.msg import PointStamped
from rclpy.node import Node

from ompo_ros.nodes.wire.robot_topics import NEWEST, STATES, topic_in
from ompo_ros.task.kinematics import FloatArray

_SILENCE: Final = 1.0  # s after which the cube may be anywhere
_FAR: Final = 10.0  # m; beyond an arm's reach


class Cube:
    """The cube's newest position. A stamp says when the tracker saw it; clocks may differ, so only its order counts."""

    def __init__(self, node: Node, namespace: str, frame: str, *, lockstep: bool) -> None:
        self._node, self._frame = node, frame
        self._position: FloatArray | None = None
        self._heard = -np.inf
        self.refused = 0
        self._stamp = 0  # ns, of the position
        topic = topic_in(namespace, "cube")
        self.topic = node.resolve_topic_name(topic)
        # In lockstep the arm must not move on an older position than the robot sent.
        node.create_subscription(PointStamped, topic, self._on_cube, STATES if lockstep else NEWEST)

    @property
    def position(self) -> FloatArray | None:
        """Its position (3,), unless the topic is silent."""
        return None if self._is_silent else self._position

    @property
    def _is_silent(self) -> bool:
        return time.monotonic() - self._heard >= _SILENCE

    def _on_cube(self, msg: PointStamped) -> None:
        position = np.array([msg.point.x, msg.point.y, msg.point.z])
        stamp = msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec
        if problem := self._refusal(msg.header.frame_id, position) or self._repetition(stamp):
            self.refused += 1
            self._node.get_logger().warning(f"{self.topic} refused: {problem}", throttle_duration_sec=5.0)
        else:
            self._position, self._stamp, self._heard = position, stamp, time.monotonic()

    def _refusal(self, frame: str, position: FloatArray) -> str:
        if frame != self._frame:
            return f"its frame is {frame!r}, {self._frame!r} is needed"
        if not (np.abs(position) < _FAR).all():
            return f"{position.tolist()} is no place near an arm, in metres"
        return ""

    def _repetition(self, stamp: int) -> str:
        """Say if the tracker repeats itself; after a silence an older stamp is that of another clock."""
        if stamp == 0 or stamp > self._stamp or (stamp < self._stamp and self._is_silent):
            return ""
        return "its stamp is not newer than the last one, so the tracker does not see the cube now"
