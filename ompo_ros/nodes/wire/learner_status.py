"""The learner's status, as every node of its run hears it."""

from __future__ import annotations

from collections.abc import Callable

from ompo_msgs.msg import LearnerStatus
from rclpy.node import Node

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import metrics_from_msg
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.transitions import InvalidData

Metrics = dict[str, float]


def hear_status(node: Node, identity: Identity, hear: Callable[[LearnerStatus, Metrics], None]) -> None:
    """Call `hear` with each sound status of this node's run, and its metrics by name; others are reported."""

    def check(msg: LearnerStatus) -> None:
        try:
            metrics = metrics_from_msg(msg)
        except InvalidData as error:
            node.get_logger().error(f"status refused: {error}", throttle_duration_sec=5.0)
            return
        hear(msg, metrics)

    node.create_subscription(LearnerStatus, "status", identity.only_ours(check), qos.LATCHED)
