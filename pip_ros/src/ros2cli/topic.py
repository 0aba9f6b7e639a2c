"""`ros2 topic`: look at topics, and publish."""

import argparse
import statistics
import sys
import time
from collections import deque
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSPresetProfiles,
    QoSProfile,
    QoSReliabilityPolicy,
    qos_profile_sensor_data,
)

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.messages import fill_from_yaml, interface_class, to_yaml


def _positive(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be greater than zero")
    return value


def _add_topic(parser: argparse.ArgumentParser) -> None:
    graph.add_discovery_arguments(parser)
    parser.add_argument("topic_name", help="Name of the ROS topic (e.g. '/chatter')")


def _add_qos(parser: argparse.ArgumentParser, default: str) -> None:
    parser.set_defaults(qos_profile=default)
    parser.add_argument("--qos-reliability", choices=QoSReliabilityPolicy.short_keys(), help="Override of the preset")
    parser.add_argument("--qos-durability", choices=QoSDurabilityPolicy.short_keys(), help="Override of the preset")


def _chosen_qos(args: argparse.Namespace) -> QoSProfile:
    profile: QoSProfile = QoSPresetProfiles.get_from_short_key(args.qos_profile)
    if args.qos_reliability:
        profile.reliability = QoSReliabilityPolicy.get_from_short_key(args.qos_reliability)
    if args.qos_durability:
        profile.durability = QoSDurabilityPolicy.get_from_short_key(args.qos_durability)
    return profile


def _matching_qos(node: Node, topic: str, args: argparse.Namespace) -> QoSProfile:
    """Take the user's choice, otherwise the strongest quality that every publisher offers."""
    profile = _chosen_qos(args)
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    reliable, latched = QoSReliabilityPolicy.RELIABLE, QoSDurabilityPolicy.TRANSIENT_LOCAL
    if offered and not args.qos_reliability and all(quality.reliability == reliable for quality in offered):
        profile.reliability = reliable
    if offered and not args.qos_durability and all(quality.durability == latched for quality in offered):
        profile.durability = latched
    return profile


def _published_type(node: Node, topic: str, spin_time: float) -> str | None:
    """Wait for a publisher: the type is known from any endpoint, but the quality to ask for only from it."""
    if graph.spin_until(node, lambda: node.count_publishers(topic) > 0, spin_time):
        graph.spin_for(node, graph.SETTLE_S)
    else:
        sys.stderr.write(f"WARNING: topic [{topic}] does not appear to be published yet\n")
    types = dict(node.get_topic_names_and_types()).get(topic, [])
    return types[0] if types else None


def _echo_arguments(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    parser.add_argument("message_type", nargs="?", help="Type of the ROS message (e.g. 'std_msgs/msg/String')")
    _add_qos(parser, "sensor_data")
    parser.add_argument("--field", default="", help="Echo one field; '.' selects sub-fields (e.g. pose.position)")
    parser.add_argument("-f", "--full-length", action="store_true", help="Do not cut arrays, bytes and strings")
    parser.add_argument("-l", "--truncate-length", type=int, default=128, help="Where to cut them (default: 128)")
    parser.add_argument("--once", action="store_true", help="Print the first message received and then exit")
    parser.add_argument("--timeout", metavar="N", type=float, default=float("inf"), help="Stop after N seconds")


def echo(args: argparse.Namespace) -> int:
    """Output messages from a topic, until interrupted."""
    printed = False

    def show(message: Any) -> None:  # noqa: ANN401 - any message type
        nonlocal printed
        if args.once and printed:
            return
        for name in filter(None, args.field.split(".")):
            if not hasattr(message, name):
                raise CommandError(f"Invalid field '{args.field}': no '{name}' in {type(message).__name__}")
            message = getattr(message, name)
        length = None if args.full_length else args.truncate_length
        whole = hasattr(message, "SLOT_TYPES")
        print(to_yaml(message, length) if whole else f"{message}\n", end="---\n")
        printed = True

    with graph.graph_node() as node:
        topic = node.resolve_topic_name(args.topic_name)
        type_name = args.message_type or _published_type(node, topic, args.spin_time)
        if type_name is None:
            raise CommandError("Could not determine the type for the passed topic")
        node.create_subscription(interface_class(type_name, "msg"), topic, show, _matching_qos(node, topic, args))
        graph.spin_until(node, lambda: args.once and printed, args.timeout)
    return 0


def _hz_arguments(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    parser.add_argument("-w", "--window", type=int, default=10000, help="Messages to average over (default: 10000)")


def hz(args: argparse.Namespace) -> int:
    """Print the average publishing rate to screen, once a second, until interrupted."""
    intervals: deque[float] = deque(maxlen=args.window)
    last, reported = 0.0, 0.0

    def measure(_: Any) -> None:  # noqa: ANN401 - any message type
        nonlocal last, reported
        now = time.monotonic()
        if last:
            intervals.append(now - last)
        last, reported = now, reported or now
        if not intervals or now - reported < 1.0:
            return
        reported, mean = now, statistics.fmean(intervals)
        print(
            f"average rate: {1.0 / mean:.3f}\n"
            f"\tmin: {min(intervals):.3f}s max: {max(intervals):.3f}s "
            f"std dev: {statistics.pstdev(intervals, mean):.5f}s window: {len(intervals)}"
        )

    with graph.graph_node() as node:
        topic = node.resolve_topic_name(args.topic_name)
        type_name = _published_type(node, topic, args.spin_time)
        while type_name is None:
            type_name = _published_type(node, topic, float("inf"))
        node.create_subscription(interface_class(type_name, "msg"), topic, measure, qos_profile_sensor_data)
        graph.spin_until(node, lambda: False)
    return 0


def _info_arguments(parser: argparse.ArgumentParser) -> None:
    _add_topic(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="Also show each endpoint's node, type and QoS")


def info(args: argparse.Namespace) -> int:
    """Print the type of a topic, and who publishes and subscribes."""
    with graph.graph_node() as node:
        topic = node.resolve_topic_name(args.topic_name)
        graph.discover(node, args.spin_time)
        types = dict(node.get_topic_names_and_types()).get(topic)
        if types is None:
            raise CommandError(f"Unknown topic '{topic}'")
        end = "\n\n" if args.verbose else "\n"
        publishers, subscriptions = (
            node.get_publishers_info_by_topic(topic),
            node.get_subscriptions_info_by_topic(topic),
        )
    print(f"Type: {types[0] if len(types) == 1 else types}", end=end)
    for noun, endpoints in (("Publisher", publishers), ("Subscription", subscriptions)):
        print(f"{noun} count: {len(endpoints)}", end=end)
        for endpoint in endpoints if args.verbose else []:
            print(endpoint, end=end)
    return 0


def list_topics(args: argparse.Namespace) -> int:
    """Output a list of available topics."""
    with graph.graph_node() as node:
        graph.discover(node, args.spin_time)
        return graph.print_listing(node.get_topic_names_and_types(), args)


def _pub_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic_name", help="Name of the ROS topic to publish to (e.g. '/chatter')")
    parser.add_argument("message_type", help="Type of the ROS message (e.g. 'std_msgs/msg/String')")
    parser.add_argument(
        "values", nargs="?", default="{}", help="Message in YAML; a stamp may be `now`, a header `auto`"
    )
    parser.add_argument("-r", "--rate", metavar="N", type=_positive, default=1.0, help="Rate in Hz (default: 1)")
    times = parser.add_mutually_exclusive_group()
    times.add_argument(
        "-1", "--once", dest="times", action="store_const", const=1, default=0, help="Publish one message and exit"
    )
    times.add_argument("-t", "--times", type=int, default=0, help="Publish this number of times and then exit")
    parser.add_argument(
        "-w", "--wait-matching-subscriptions", metavar="N", type=int, help="Default: 1 with --once or --times, else 0"
    )
    _add_qos(parser, "default")


def pub(args: argparse.Namespace) -> int:
    """Publish a message to a topic; with --once or --times after a subscription has matched."""
    message = interface_class(args.message_type, "msg")()
    stamps = fill_from_yaml(message, args.values)
    wanted = args.wait_matching_subscriptions
    wanted = min(args.times, 1) if wanted is None else wanted
    with graph.graph_node() as node:
        publisher = node.create_publisher(type(message), args.topic_name, _chosen_qos(args))
        while not graph.spin_until(node, lambda: publisher.get_subscription_count() >= wanted, 1.0):
            print(f"Waiting for at least {wanted} matching subscription(s)...")
        graph.spin_for(node, graph.SETTLE_S if wanted else 0.0)  # the other side has to match as well
        print("publisher: beginning loop")
        count, due = 0, time.monotonic()
        while args.times == 0 or count < args.times:
            graph.spin_for(node, due - time.monotonic())
            due, count = due + 1.0 / args.rate, count + 1
            now = node.get_clock().now().to_msg()
            for stamp in stamps:
                stamp.sec, stamp.nanosec = now.sec, now.nanosec
            print(f"publishing #{count}: {message!r}\n")
            publisher.publish(message)
        if not publisher.wait_for_all_acked(Duration(seconds=2)):
            sys.stderr.write("WARNING: not every subscription has acknowledged the last message\n")
    return 0


VERBS = {
    "echo": (_echo_arguments, echo),
    "hz": (_hz_arguments, hz),
    "info": (_info_arguments, info),
    "list": (graph.add_listing_arguments, list_topics),
    "pub": (_pub_arguments, pub),
}
