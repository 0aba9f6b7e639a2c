"""Looking at the running graph directly: there is no daemon that remembers it."""

import argparse
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from ros2cli.errors import CommandError

DISCOVERY_S = 3.2  # Fast DDS repeats its announcements every 3 s; a newcomer may have to wait for the next one
SETTLE_S = 0.2  # what a process offers arrives within this time of its first sign
SERVER_S = 8.0  # for a node or server that is named: discovery may miss announcements on a busy machine
STEP_S = 0.05  # between two looks at the graph, and how long a signal may have to wait

_pending_signals: list[int] = []


def _remember(number: int, frame: FrameType | None) -> None:
    """Keep a signal until the node is at rest: an exception thrown into the midst of rclpy breaks it."""
    _pending_signals.append(number)


@contextmanager
def graph_node() -> Iterator[Node]:
    """Give a hidden node for the length of one command; signals reach the verb as exceptions while it spins."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _remember)
    node = rclpy.create_node(f"_ros2cli_{os.getpid()}", start_parameter_services=False)
    try:
        yield node
    except (NameValidationException, _rclpy.RCLError) as error:
        raise CommandError(str(error)) from None
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def spin_until(node: Node, done: Callable[[], bool], timeout_s: float = float("inf")) -> bool:
    """Serve the node until `done`; False when the time is up first."""
    deadline = time.monotonic() + timeout_s
    while not done():
        if _pending_signals:
            number = _pending_signals.pop()
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(number)
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        rclpy.spin_once(node, timeout_sec=min(left, STEP_S))
    return True


def spin_for(node: Node, seconds: float) -> None:
    """Serve the node for some time: nothing says how much of the graph is still to be heard from."""
    spin_until(node, lambda: False, seconds)


def discover(node: Node, seconds: float) -> None:
    """Listen for what there is; longer where nothing was heard, since a busy machine misses announcements."""
    spin_for(node, seconds)
    spin_until(node, lambda: bool(node_names(node)), SERVER_S - seconds)


def spin_for_result(node: Node, future: Future) -> Any:  # noqa: ANN401 - a response of whatever type was asked for
    """Wait for a response for as long as it takes, like the genuine command."""
    spin_until(node, future.done)
    return future.result()


def add_discovery_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept what scripts pass to the genuine command about discovery."""
    parser.add_argument("--spin-time", type=float, default=DISCOVERY_S, help="Seconds to wait for discovery")
    parser.add_argument("--no-daemon", action="store_true", help="Accepted for compatibility: there is no daemon")


def add_listing_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the lists of topics, services and actions."""
    add_discovery_arguments(parser)
    parser.add_argument("-t", "--show-types", action="store_true", help="Additionally show the types")
    parser.add_argument("-a", "--all", action="store_true", help="Also show hidden names")


def print_listing(entries: Sequence[tuple[str, list[str]]], args: argparse.Namespace) -> int:
    """Print one name per line, its types in brackets when asked for."""
    for name, types in entries:
        if args.all or not topic_or_service_is_hidden(name):
            print(f"{name} [{', '.join(types)}]" if args.show_types else name)
    return 0


def node_names(node: Node, *, hidden: bool = False) -> list[str]:
    """List the full names of the nodes known by now, sorted."""
    names = [f"{namespace.rstrip('/')}/{name}" for name, namespace in node.get_node_names_and_namespaces()]
    return sorted(name for name in names if hidden or "/_" not in name)


def require_node(node: Node, name: str) -> str:
    """Find a node by the name the user typed, waiting for it to be discovered."""
    full = name if name.startswith("/") else f"/{name}"
    if not spin_until(node, lambda: full in node_names(node, hidden=True), SERVER_S):
        others = "\n".join(f"  {other}" for other in node_names(node)) or "  (none)"
        raise CommandError(f"Node not found: {full}. Nodes seen:\n{others}")
    spin_for(node, SETTLE_S)
    return full
