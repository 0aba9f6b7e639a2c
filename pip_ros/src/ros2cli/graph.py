"""Looking at the running graph directly: there is no daemon that remembers it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from ros2cli.errors import CommandError

DISCOVERY_S = 3.2  # Fast DDS repeats its announcements every 3 s; a newcomer may have to wait for the next one
SETTLE_S = 0.2  # what a process offers arrives within this time of its first sign
POLL_S = 0.05
SPIN_S = 0.1  # how long a signal may have to wait for Python to see it


class NodeName(NamedTuple):
    """A node's name in its parts, as the graph gives it."""

    name: str
    namespace: str

    @property
    def full(self) -> str:
        return f"{self.namespace.rstrip('/')}/{self.name}"

    @property
    def hidden(self) -> bool:
        return self.name.startswith("_")


def add_discovery_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept what scripts pass to the genuine command about discovery."""
    parser.add_argument(
        "--spin-time", type=float, default=DISCOVERY_S, help="Longest time in seconds to wait for discovery"
    )
    parser.add_argument("--no-daemon", action="store_true", help="Accepted for compatibility: there is no daemon")


class _PendingSignal:
    """Keeps a signal until the node is at rest: an exception thrown into the midst of rclpy breaks it."""

    def __init__(self) -> None:
        self._number: int | None = None

    def remember(self, number: int, frame: FrameType | None) -> None:
        self._number = number

    def answer(self) -> None:
        number, self._number = self._number, None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        if number is not None:
            sys.exit(number)


_pending_signal = _PendingSignal()


@contextmanager
def graph_node(*, use_sim_time: bool = False) -> Iterator[Node]:
    """Give a hidden node for the length of one command; signals reach the verb as exceptions while it spins."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _pending_signal.remember)
    node = rclpy.create_node(
        f"_ros2cli_{os.getpid()}",
        start_parameter_services=False,
        parameter_overrides=[Parameter("use_sim_time", value=use_sim_time)],
    )
    try:
        yield node
    except (NameValidationException, _rclpy.RCLError) as error:
        raise CommandError(str(error)) from None
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def spin_until(node: Node, done: Callable[[], bool], timeout_s: float = float("inf"), step_s: float = SPIN_S) -> bool:
    """Serve the node until `done`; False when the time is up first."""
    deadline = time.monotonic() + timeout_s
    while not done():
        _pending_signal.answer()
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        rclpy.spin_once(node, timeout_sec=min(left, step_s))
    return True


def spin_for_result(node: Node, future: Future) -> Any:  # noqa: ANN401 - a response of whatever type was asked for
    """Wait for a response for as long as it takes, like the genuine command."""
    spin_until(node, future.done)
    return future.result()


def discover(node: Node, found: Callable[[], bool], spin_time_s: float) -> bool:
    """Wait until what is sought is `found` and has had time to show all of itself; False when it never turns up."""
    if not spin_until(node, found, spin_time_s, POLL_S):
        return False
    spin_until(node, lambda: False, SETTLE_S)
    return True


def discover_all(node: Node, spin_time_s: float = DISCOVERY_S) -> None:
    """Wait for the whole graph: nothing tells how many nodes are still to be heard from."""
    spin_until(node, lambda: False, spin_time_s)


def node_names(node: Node, *, include_hidden: bool = False) -> list[NodeName]:
    """List the nodes known by now, sorted by full name."""
    names = [NodeName(name, namespace) for name, namespace in node.get_node_names_and_namespaces()]
    return sorted((name for name in names if include_hidden or not name.hidden), key=lambda name: name.full)


def require_node(node: Node, name: str, *, include_hidden: bool, timeout_s: float = DISCOVERY_S) -> NodeName:
    """Find a node by the name the user typed, waiting for it to be discovered."""
    full = name if name.startswith("/") else f"/{name}"

    def match() -> NodeName | None:
        return next((n for n in node_names(node, include_hidden=include_hidden) if n.full == full), None)

    spin_until(node, lambda: match() is not None, timeout_s, POLL_S)
    found = match()
    if found is None:
        others = "\n".join(f"  {n.full}" for n in node_names(node)) or "  (none)"
        raise CommandError(f"Node not found: {full}. Nodes seen:\n{others}")
    return found
