"""`ros2 topic echo`: YAML documents separated by `---`, or CSV."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, cast

import yaml
from rclpy.event_handler import QoSMessageLostInfo, SubscriptionEventCallbacks

from ros2cli import graph, topics
from ros2cli.errors import CommandError
from ros2cli.message_text import Style, to_csv, to_yaml

DEFAULT_TRUNCATE_LENGTH = 128


def _unsigned(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def _field_path(text: str) -> list[str]:
    path = [name for name in text.split(".") if name]
    if not path:
        raise argparse.ArgumentTypeError(f"Invalid field value '{text}'")
    return path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    parser.add_argument("topic_name", help="Name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument("message_type", nargs="?", help="Type of the ROS message (e.g. 'std_msgs/msg/String')")
    parser.add_argument("-s", "--use-sim-time", action="store_true", help="Enable ROS simulation time")
    topics.add_qos_arguments(parser)
    topics.add_filter_argument(parser)
    parser.add_argument("--csv", action="store_true", help="Output all recursive fields separated by commas")
    parser.add_argument(
        "--field", type=_field_path, default=[], help="Echo one field; '.' selects sub-fields (e.g. pose.position)"
    )
    parser.add_argument(
        "-f", "--full-length", action="store_true", help="Do not truncate arrays, bytes and strings with '...'"
    )
    parser.add_argument(
        "-l",
        "--truncate-length",
        type=_unsigned,
        default=DEFAULT_TRUNCATE_LENGTH,
        help="Length to truncate arrays, bytes and strings to (default: %(default)s)",
    )
    parser.add_argument("--no-arr", action="store_true", help="Don't print array fields of messages")
    parser.add_argument("--no-str", action="store_true", help="Don't print string fields of messages")
    parser.add_argument("--flow-style", action="store_true", help="Print each sequence in one line (not with csv)")
    parser.add_argument("--no-lost-messages", action="store_true", help="Don't report when a message is lost")
    parser.add_argument("--raw", action="store_true", help="Echo the raw binary representation")
    parser.add_argument("--once", action="store_true", help="Print the first message received and then exit")
    parser.add_argument(
        "--timeout", metavar="N", type=float, default=float("inf"), help="Stop after so many seconds of waiting"
    )
    parser.add_argument("-i", "--include-message-info", action="store_true", help="Shows the associated message info")


class Echo:
    """Prints what a subscription receives, as the options ask."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.printed = 0
        self._args = args
        self._style = Style(
            truncate_length=None if args.full_length else args.truncate_length,
            no_arrays=args.no_arr,
            no_strings=args.no_str,
            flow=args.flow_style,
        )

    def __call__(self, message: Any, info: dict[str, int]) -> None:  # noqa: ANN401 - a message, or bytes if raw
        if self._args.once and self.printed:
            return
        part = self._selected(message)
        if self._args.filter is not None and not self._args.filter(part):
            return
        self.printed += 1
        if not hasattr(part, "SLOT_TYPES"):
            self._print_value(part, info)
        elif self._args.csv:
            prefix = [str(value) for value in info.values()] if self._args.include_message_info else []
            print(",".join([*prefix, to_csv(part, self._style)]))
        else:
            if self._args.include_message_info:
                print(yaml.dump(info), end="---\n")
            print(to_yaml(part, self._style), end="---\n")

    def _selected(self, message: Any) -> Any:  # noqa: ANN401
        for name in self._args.field:
            try:
                message = getattr(message, name)
            except AttributeError as error:
                raise CommandError(f"Invalid field '{'.'.join(self._args.field)}': {error}") from None
        return message

    def _print_value(self, value: object, info: dict[str, int]) -> None:
        if self._args.include_message_info:
            print("---Got new message, message info:---")
            print(info)
            print("---Message data:---")
        print(value, end="\n---\n")


def _report_lost(lost: QoSMessageLostInfo) -> None:
    print(
        f"A message was lost!!!\n\ttotal count change:{lost.total_count_change}\n\ttotal count: {lost.total_count}",
        end="---\n",
    )


def run(args: argparse.Namespace) -> int:
    """Echo until interrupted, or as `--once` and `--timeout` say."""
    with graph.graph_node(use_sim_time=args.use_sim_time) as node:
        topic = node.resolve_topic_name(args.topic_name)
        # The type is known from any endpoint, but the quality to ask for only from a publisher.
        published = graph.discover(
            node, lambda: bool(args.message_type or node.count_publishers(topic)), args.spin_time
        )
        if not published:
            topics.warn_unpublished(topic)
        type_name = args.message_type or topics.topic_type(node, topic)
        if type_name is None:
            raise CommandError("Could not determine the type for the passed topic")
        echo = Echo(args)
        lost = None if args.no_lost_messages else _report_lost
        node.create_subscription(
            topics.message_class(type_name),
            topic,
            cast(Callable[[Any], None], echo),  # rclpy hands the info to callbacks that take it
            topics.choose_qos(node, topic, args),
            event_callbacks=SubscriptionEventCallbacks(message_lost=lost),
            raw=args.raw,
        )
        graph.spin_until(node, lambda: args.once and echo.printed > 0, args.timeout)
    return 0
