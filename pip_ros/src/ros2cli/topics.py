"""What the verbs that subscribe share: the topic's type, and a subscription that its publishers match."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSPresetProfiles,
    QoSProfile,
    QoSReliabilityPolicy,
)

from ros2cli.errors import CommandError
from ros2cli.interface_types import interface_class

Filter = Callable[[Any], bool]


def add_filter_argument(parser: argparse.ArgumentParser) -> None:
    """Let the user choose among messages."""
    parser.add_argument(
        "--filter", metavar="EXPR", type=_filter, help="Python expression over m, the message; others are left out"
    )


def _filter(expression: str) -> Filter:
    try:
        code = compile(expression, "--filter", "eval")
    except SyntaxError as error:
        raise argparse.ArgumentTypeError(f"'{expression}' is no Python expression: {error.msg}") from None

    def wanted(message: Any) -> bool:  # noqa: ANN401 - any message type
        try:
            return bool(eval(code, {"m": message}))  # noqa: S307 - the user's own expression
        except Exception as error:
            raise CommandError(f"Cannot apply the filter '{expression}': {error}") from None

    return wanted


def topic_type(node: Node, topic: str) -> str | None:
    """Name the type of a topic as far as it is known by now."""
    types = dict(node.get_topic_names_and_types()).get(topic, [])
    if len(types) > 1:
        raise CommandError(f"Topic '{topic}' has more than one type: {', '.join(types)}. Pass the one you mean")
    return types[0] if types else None


def warn_unpublished(topic: str) -> None:
    """Say why nothing happens, in the words of the genuine command."""
    sys.stderr.write(f"WARNING: topic [{topic}] does not appear to be published yet\n")


def message_class(type_name: str) -> Any:  # noqa: ANN401 - generated classes share no base
    """Import the message's class."""
    return interface_class(type_name, "msg")


def add_qos_arguments(parser: argparse.ArgumentParser) -> None:
    """Options to override the quality of service that is otherwise matched to the publishers."""
    parser.add_argument(
        "--qos-profile",
        choices=QoSPresetProfiles.short_keys(),
        default="sensor_data",
        help="Preset to start from (default: %(default)s)",
    )
    parser.add_argument("--qos-depth", metavar="N", type=int, help="Queue size")
    parser.add_argument("--qos-history", choices=QoSHistoryPolicy.short_keys(), help="History of samples")
    parser.add_argument(
        "--qos-reliability", choices=QoSReliabilityPolicy.short_keys(), help="Default: what all publishers offer"
    )
    parser.add_argument(
        "--qos-durability", choices=QoSDurabilityPolicy.short_keys(), help="Default: what all publishers offer"
    )


def choose_qos(node: Node, topic: str, args: argparse.Namespace) -> QoSProfile:
    """Take the user's choice, otherwise the strongest quality that every publisher offers."""
    profile: QoSProfile = QoSPresetProfiles.get_from_short_key(args.qos_profile)
    if any((args.qos_depth, args.qos_history, args.qos_reliability, args.qos_durability)):
        return _overridden(profile, args)
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    if not offered:
        return profile
    profile.reliability = _common(
        [quality.reliability for quality in offered], QoSReliabilityPolicy.RELIABLE, QoSReliabilityPolicy.BEST_EFFORT
    )
    profile.durability = _common(
        [quality.durability for quality in offered], QoSDurabilityPolicy.TRANSIENT_LOCAL, QoSDurabilityPolicy.VOLATILE
    )
    return profile


def _overridden(profile: QoSProfile, args: argparse.Namespace) -> QoSProfile:
    if args.qos_history:
        profile.history = QoSHistoryPolicy.get_from_short_key(args.qos_history)
    if args.qos_reliability:
        profile.reliability = QoSReliabilityPolicy.get_from_short_key(args.qos_reliability)
    if args.qos_durability:
        profile.durability = QoSDurabilityPolicy.get_from_short_key(args.qos_durability)
    if args.qos_depth:
        profile.depth = args.qos_depth
    return profile


def _common(offered: list[Any], strong: Any, weak: Any) -> Any:  # noqa: ANN401 - one of two policy enumerations
    if all(policy == strong for policy in offered):
        return strong
    if strong in offered:
        sys.stderr.write(
            f"Some, but not all, publishers are offering {strong!s}. "
            f"Falling back to {weak!s} as it will connect to all publishers\n"
        )
    return weak
