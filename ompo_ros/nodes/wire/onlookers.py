"""Nodes that only listen to a run: no batch is sent for them alone, and none of them moves an arm."""

from __future__ import annotations

from typing import Final

from rclpy.node import Node
from rclpy.publisher import Publisher

ONLOOKERS: Final = frozenset({"monitor", "recorder", "transition_monitor"})
UNNAMED: Final = "_NODE_NAME_UNKNOWN_"  # rmw's value until the node's name is discovered


def has_receiver(node: Node, publisher: Publisher) -> bool:
    """Whether a node is connected that needs what is published."""
    names = [info.node_name for info in node.get_subscriptions_info_by_topic(publisher.topic)]
    looking = sum(name in ONLOOKERS or name == UNNAMED for name in names)
    return bool(publisher.get_subscription_count() > looking)
