"""`ros2 topic hz`: the rate at which messages arrive."""

from __future__ import annotations

import argparse
import statistics
from collections import deque
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.qos import qos_profile_sensor_data

from ros2cli import graph, topics

DEFAULT_WINDOW_SIZE = 10000
REPORT_PERIOD_S = 1.0


def _positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise ValueError
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    parser.add_argument("topic_name", help="Name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument(
        "-w",
        "--window",
        type=_positive,
        default=DEFAULT_WINDOW_SIZE,
        help="Number of messages to calculate the rate over (default: %(default)s)",
    )
    parser.add_argument("--wall-time", action="store_true", help="Use wall time even where a simulated clock runs")
    parser.add_argument("-s", "--use-sim-time", action="store_true", help="Enable ROS simulation time")
    parser.add_argument("--spin-time", type=float, default=graph.DISCOVERY_S, help="Seconds to wait for discovery")
    topics.add_filter_argument(parser)


class RateMeter:
    """Intervals between messages, reported about once a second."""

    def __init__(self, clock: Clock, window: int, wanted: topics.Filter | None) -> None:
        self._clock = clock
        self._wanted = wanted
        self._intervals: deque[float] = deque(maxlen=window)
        self._last: float | None = None
        self._reported = 0.0

    def __call__(self, message: Any) -> None:  # noqa: ANN401 - any message type
        if self._wanted is not None and not self._wanted(message):
            return
        now = self._clock.now().nanoseconds * 1e-9
        if self._last is None or now < self._last:
            # The first message, or a simulated clock that was set back.
            self._intervals.clear()
            self._reported = now
        else:
            self._intervals.append(now - self._last)
        self._last = now
        if self._intervals and now - self._reported >= REPORT_PERIOD_S:
            self._report()
            self._reported = now

    def _report(self) -> None:
        mean = statistics.fmean(self._intervals)
        print(
            f"average rate: {1.0 / mean if mean > 0 else 0.0:.3f}\n"
            f"\tmin: {min(self._intervals):.3f}s max: {max(self._intervals):.3f}s "
            f"std dev: {statistics.pstdev(self._intervals, mean):.5f}s window: {len(self._intervals)}"
        )


def run(args: argparse.Namespace) -> int:
    """Measure until interrupted, waiting for the topic if need be."""
    with graph.graph_node(use_sim_time=args.use_sim_time) as node:
        topic = node.resolve_topic_name(args.topic_name)
        if not graph.discover(node, lambda: topics.topic_type(node, topic) is not None, args.spin_time):
            topics.warn_unpublished(topic)
            graph.spin_until(node, lambda: topics.topic_type(node, topic) is not None)
        clock = Clock(clock_type=ClockType.SYSTEM_TIME) if args.wall_time else node.get_clock()
        node.create_subscription(
            topics.message_class(topics.topic_type(node, topic) or ""),
            topic,
            RateMeter(clock, args.window, args.filter),
            qos_profile_sensor_data,
        )
        graph.spin_until(node, lambda: False)
    return 0
