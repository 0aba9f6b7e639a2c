"""The common `main` of all nodes: refuse wrong settings with a clear message, end with exit code 0 on a signal."""

from __future__ import annotations

import faulthandler
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

from ompo_ros.nodes.wire.absence import Absence
from ompo_ros.nodes.wire.only_one import only_one
from ompo_ros.to_launch import OVER, REFUSED, say

STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # keeps running when simulated time stops

_PRIORITY: Final = 50  # of the machine's real-time priorities, as ros2_control's own default
_LOOK: Final = 0.1  # s between two looks for a signal
_LONG_START: Final = 100.0  # s, after which a node that does not come up prints where it hangs


class Finished(Exception):
    """Raised by a node whose run is over: it ends with exit code 0, and its launch with it."""


class Ending(Protocol):
    """How a node ends once it was asked to; an arm is braked before."""

    def wind_down(self) -> None: ...

    @property
    def has_ended(self) -> bool: ...


class _AtOnce:
    """After the turn."""

    has_ended = False

    def wind_down(self) -> None:
        self.has_ended = True


class BreaksOff:
    """In the middle of a turn: for nodes whose turns take seconds and may be lost."""

    has_ended = False

    def wind_down(self) -> None:
        raise KeyboardInterrupt


AnyNode = TypeVar("AnyNode", bound=Node)


def _turn(_: Node, executor: SingleThreadedExecutor) -> None:
    executor.spin_once(timeout_sec=_LOOK)


def may_take_long() -> None:
    """Let a node's start take as long as it needs from here on, without saying where it hangs."""
    faulthandler.cancel_dump_traceback_later()


def run(
    make_node: Callable[[], AnyNode],
    turn: Callable[[AnyNode, SingleThreadedExecutor], None] = _turn,
    ending_of: Callable[[AnyNode], Ending] = lambda _: _AtOnce(),
) -> None:
    """Make the node if its name is free, and give it turn after turn until SIGINT, SIGTERM or a shutdown.

    The first signal lets the node finish its turn, and an arm its braking; a second one ends it at once. A process
    that was stopped for so long that others have forgotten it ends as after a signal, with exit code 1.
    """
    # Not rclpy's handlers: their thread may wake an executor that the main thread has already freed.
    _on_signals(_interrupt)
    node: AnyNode | None = None
    absence: Absence | None = None
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        faulthandler.dump_traceback_later(_LONG_START)
        with only_one(make_node.__name__):
            node = make_node()
        may_take_long()
        absence = Absence()
        _spin(node, turn, ending_of(node), absence)
    except Finished:
        say(OVER)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (InvalidParameterValueException, InvalidParameterTypeException, ValueError, OSError) as error:
        if node is not None:
            raise
        rclpy.logging.get_logger(make_node.__name__).fatal(str(error))
        sys.exit(REFUSED)
    finally:
        may_take_long()
        _on_signals(signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    if absence is not None and absence.forgotten:
        sys.exit(1)


def _spin(
    node: AnyNode, turn: Callable[[AnyNode, SingleThreadedExecutor], None], ending: Ending, absence: Absence
) -> None:
    def on_signal(*_: object) -> None:
        _on_signals(_interrupt)
        ending.wind_down()

    _on_signals(on_signal)
    executor = SingleThreadedExecutor()
    executor.add_node(node)  # once: rclpy.spin_once would do so every time, for half a core
    while rclpy.ok() and not ending.has_ended and not absence.forgotten:
        turn(node, executor)
    if absence.forgotten:
        node.get_logger().fatal(
            f"did not run for {absence.longest:.1f} s, after which other nodes have forgotten it: start it again"
        )
        ending.wind_down()
    while rclpy.ok() and not ending.has_ended:
        turn(node, executor)


def _on_signals(handler: Callable[..., object] | signal.Handlers) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def run_in_real_time(node: Node) -> None:
    """Ask for real-time priority, if the user may have it, so that other programs do not delay the loop."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError:
        node.get_logger().info("no real-time priority: allow it (ulimit -r 50) if other programs make ticks late")
