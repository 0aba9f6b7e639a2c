"""Nodes that hear a run and take no part in it: nobody sends for their sake, and none of them moves an arm."""

from __future__ import annotations

from typing import Final

from rclpy.node import Node
from rclpy.publisher import Publisher

ONLOOKERS: Final = frozenset({"monitor", "recorder", "transition_monitor"})
UNNAMED: Final = "_NODE_NAME_UNKNOWN_"  # rmw's word until the graph has heard a node's name


def has_receiver(node: Node, publisher: Publisher) -> bool:
    """Whether anybody is connected who needs what is published."""
    names = [info.node_name for info in node.get_subscriptions_info_by_topic(publisher.topic)]
    looking = sum(name in ONLOOKERS or name == UNNAMED for name in names)
    return bool(publisher.get_subscription_count() > looking)
