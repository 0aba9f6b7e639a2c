"""The one `main` of all nodes: start with a clear refusal or not at all, end with exit code 0 when asked to stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import TypeVar

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from ompo_ros.nodes.only_one import only_one

STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # for what must go on even where simulated time stands still


class Finished(Exception):
    """Raised by a node whose work is done: it ends with exit code 0."""


AnyNode = TypeVar("AnyNode", bound=Node)


def run(make_node: Callable[[], AnyNode], spin: Callable[[AnyNode], None] = rclpy.spin) -> None:
    """Make the node, the only one of its name, and spin it until SIGINT, SIGTERM or a shutdown from elsewhere."""
    rclpy.init()
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
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
