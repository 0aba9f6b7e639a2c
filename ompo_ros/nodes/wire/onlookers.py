"""Nodes that only listen to a run: no batch is sent for them alone, and none of them moves an arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

ONLOOKERS: Final = frozenset({"monitor", "recorder", "transition_monitor", "campaign_observer"})
UNNAMED: Final = "_NODE_NAME_UNKNOWN_"  # rmw's value until the node's name is discovered


def has_receiver(node: Node, publisher: Publisher) -> bool:
    """Whether a node is connected that needs what is published."""
    return _has_others(node, publisher, _only_samples)


def has_driver(node: Node, publisher: Publisher) -> bool:
    """Whether a node is connected that may move an arm by what is published; a driver without a name is one."""
    return _has_others(node, publisher, lambda subscriber: subscriber.node_name in ONLOOKERS)


def _has_others(node: Node, publisher: Publisher, looks: Callable[[TopicEndpointInfo], bool]) -> bool:
    """Whether more are connected than only look: the graph also lists subscribers that are not connected."""
    connected = publisher.get_subscription_count()  # first: an onlooker that leaves in between must not hide others
    return bool(connected > sum(map(looks, node.get_subscriptions_info_by_topic(publisher.topic))))


def _only_samples(subscriber: TopicEndpointInfo) -> bool:
    samples = subscriber.qos_profile.reliability is ReliabilityPolicy.BEST_EFFORT  # as the policy server does
    return samples or subscriber.node_name in ONLOOKERS or subscriber.node_name == UNNAMED
