"""The common `main` of all nodes: refuse wrong settings with a clear message, end with exit code 0 on a signal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ompo_ros.nodes.wire.only_one import only_one

STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # keeps running when simulated time stops

_PRIORITY: Final = 50  # of the machine's real-time priorities, as ros2_control's own default
_LOOK: Final = 0.1  # s between two checks whether the arm is at rest


class Finished(Exception):
    """Raised by a node whose work is done: it ends with exit code 0."""


class EndsAtRest(Protocol):
    """An arm that is braked before its node ends."""

    def wind_down(self) -> None: ...

    @property
    def has_ended(self) -> bool: ...


AnyNode = TypeVar("AnyNode", bound=Node)


def run(
    make_node: Callable[[], AnyNode],
    spin: Callable[[AnyNode], None] = rclpy.spin,
    signals: SignalHandlerOptions = SignalHandlerOptions.ALL,
) -> None:
    """Make the node if its name is free, and spin it until SIGINT, SIGTERM or a shutdown."""
    if signals is SignalHandlerOptions.NO:
        signal.signal(signal.SIGTERM, _interrupt)
    rclpy.init(signal_handler_options=signals)
    node: AnyNode | None = None
    try:
        with only_one(make_node.__name__):
            node = make_node()
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException, Finished):
        pass
    except (InvalidParameterValueException, InvalidParameterTypeException, ValueError, OSError) as error:
        if node is not None:
            raise
        rclpy.logging.get_logger(make_node.__name__).fatal(str(error))
        sys.exit(2)
    except RuntimeError:
        # A signal may invalidate the context in the middle of a call, which rclpy reports as a plain error.
        if rclpy.ok():
            raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


def run_in_real_time(node: Node) -> None:
    """Ask for real-time priority, if the user may have it, so that other programs do not delay the loop."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError:
        node.get_logger().info("no real-time priority: allow it (ulimit -r 50) if other programs make ticks late")


def run_arm(make_node: Callable[[], AnyNode], arm_of: Callable[[AnyNode], EndsAtRest]) -> None:
    """Run a node that moves an arm: the first signal brakes it and ends it at rest, a second one ends it at once."""

    def spin(node: AnyNode) -> None:
        _spin_to_rest(node, arm_of(node))

    run(make_node, spin, SignalHandlerOptions.NO)


def _spin_to_rest(node: Node, arm: EndsAtRest) -> None:
    def on_signal(*_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        arm.wind_down()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    executor = SingleThreadedExecutor()
    executor.add_node(node)  # once: rclpy.spin_once would do so every time, for half a core
    while rclpy.ok() and not arm.has_ended:
        executor.spin_once(timeout_sec=_LOOK)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
