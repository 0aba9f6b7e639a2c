"""Allows only one node per name: a second one would answer the first one's calls and receive its messages."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ompo_ros.nodes.wire.absence import LEASE

_DISCOVERY = 1.0  # s to discover a running node
_PATIENCE = LEASE + 2.0  # s to wait for a name to become free; a killed node's disappears after its lease


class NameTaken(ValueError):
    """Another node has our name; the message says what to do."""


def default_name(class_name: str) -> str:
    """A node's name unless it is remapped: its class, in snake case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).lower()


@contextmanager
def only_one(class_name: str) -> Iterator[None]:
    """Reserve a free name while the node is made; raise NameTaken if another node keeps it.

    The placeholder has no topics and no services, so that it does not disturb a node of this name. It has its own
    context, because within one context the graph does not distinguish two nodes of a name.
    """
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    placeholder = rclpy.create_node(
        default_name(class_name), context=context, enable_rosout=False, start_parameter_services=False
    )
    try:
        _wait_to_be_alone(placeholder)
        yield
    finally:
        placeholder.destroy_node()  # else it stays on the graph until Python collects it, and hides the node's topics
        context.try_shutdown()


def _wait_to_be_alone(node: Node) -> None:
    name = node.get_fully_qualified_name()
    time.sleep(_DISCOVERY)
    if _others(node) == 0:
        return
    node.get_logger().warning(f"waiting up to {_PATIENCE:g} s for another {name} to go")
    deadline = time.monotonic() + _PATIENCE
    while _others(node) > 0:
        if time.monotonic() > deadline:
            raise NameTaken(
                f"another node has the name {name}: stop it (a killed one is forgotten within 20 s), "
                "or give this one another namespace or ROS_DOMAIN_ID"
            )
        time.sleep(0.1)


def _others(node: Node) -> int:
    own = (node.get_name(), node.get_namespace())
    return [names[:2] for names in node.get_node_names_and_namespaces()].count(own) - 1
