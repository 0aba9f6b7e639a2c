"""The end of a run, from the run manager to its nodes on all machines."""

from __future__ import annotations

from typing import Final

from ompo_msgs.msg import RunEnded
from rclpy.duration import Duration
from rclpy.node import Node

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.process import Finished

_TOPIC: Final = "run/ended"
_PATIENCE: Final = Duration(seconds=5)  # s to wait for acknowledgements; a dead node must not block it


def end_with_run(node: Node, identity: Identity) -> None:
    """End a node with exit code 0 when its run has ended."""

    def end(_: RunEnded) -> None:
        node.get_logger().info("the run is over")
        raise Finished

    node.create_subscription(RunEnded, _TOPIC, identity.only_ours(end), qos.LATCHED)


class RunEnd:
    """Ends the nodes of a run."""

    def __init__(self, node: Node, identity: Identity) -> None:
        self._node, self._identity = node, identity
        self._publisher = node.create_publisher(RunEnded, _TOPIC, qos.LATCHED)

    def announce(self) -> None:
        """Announce the end of the run, and wait until every subscribed node has received it."""
        stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(RunEnded(stamp=stamp, run_id=self._identity.run_id))
        self._publisher.wait_for_all_acked(_PATIENCE)
