"""Allows only one node per name: a second one would answer the first one's calls and receive its messages."""

from __future__ import annotations

import errno
import hashlib
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ompo_ros.nodes.wire.absence import LEASE

_DISCOVERY: Final = 1.0  # s to discover a running node
_PATIENCE: Final = LEASE + 2.0  # s to wait for a name to become free; a killed node's disappears after its lease
_LOOK: Final = 0.1  # s


class NameTaken(ValueError):
    """Another node has our name; the message says what to do."""


def default_name(class_name: str) -> str:
    """A node's name unless it is remapped: its class, in snake case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).lower()


@contextmanager
def only_one(class_name: str) -> Iterator[None]:
    """Reserve a free name while the node is made; raise NameTaken if another node keeps it.

    On this machine the kernel decides, at once and however busy the cores are. The graph shows nodes of others.
    """
    with _placeholder(class_name) as node:  # only a node knows its remapped name
        name = node.get_fully_qualified_name()
        address = _address(node.context.get_domain_id(), name)
        if _claimed(address):
            _wait_to_be_alone(node)
            yield
            return
    _wait_for(name, lambda: _claimed(address))  # without a placeholder, which would keep the other one waiting
    with _placeholder(class_name) as node:
        _wait_to_be_alone(node)
        yield


@contextmanager
def _placeholder(class_name: str) -> Iterator[Node]:
    """A node that disturbs none of this name: it has no topics and no services.

    It has its own context, because within one context the graph does not distinguish two nodes of a name.
    """
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        default_name(class_name), context=context, enable_rosout=False, start_parameter_services=False
    )
    try:
        yield node
    finally:
        node.destroy_node()  # else it stays on the graph until Python collects it, and hides the node's topics
        context.try_shutdown()


def _wait_to_be_alone(node: Node) -> None:
    time.sleep(_DISCOVERY)
    _wait_for(node.get_fully_qualified_name(), lambda: _others(node) == 0)


def _wait_for(name: str, is_free: Callable[[], bool]) -> None:
    if is_free():
        return
    logger = rclpy.logging.get_logger(name[1:].replace("/", "."))
    logger.warning(f"waiting up to {_PATIENCE:g} s for another {name} to go")
    deadline = time.monotonic() + _PATIENCE
    while not is_free():
        if time.monotonic() > deadline:
            raise NameTaken(
                f"another node has the name {name}: stop it (a killed one is forgotten after {LEASE:g} s), "
                "or give this one another namespace or ROS_DOMAIN_ID"
            )
        time.sleep(_LOOK)


def _address(domain: int, name: str) -> str:
    """A socket address of no file; hashed, because the kernel allows 108 bytes and a full name may be longer."""
    return f"\0ompo_ros/{hashlib.sha256(f'{domain}{name}'.encode()).hexdigest()}"


def _claimed(address: str) -> bool:
    """Whether this process has the name now; the kernel frees it when the process ends, however it ends."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(address)
    except OSError as error:
        claim.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    claim.detach()
    return True


def _others(node: Node) -> int:
    own = (node.get_name(), node.get_namespace())
    return [names[:2] for names in node.get_node_names_and_namespaces()].count(own) - 1
