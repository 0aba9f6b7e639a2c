"""`ros2 topic list`."""

from __future__ import annotations

import argparse

from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from ros2cli import graph
from ros2cli.listing import add_listing_arguments, print_listing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    add_listing_arguments(parser, "topic")
    parser.add_argument("--include-hidden-topics", action="store_true", help="Consider hidden topics as well")


def run(args: argparse.Namespace) -> int:
    """Print the names, with types when asked for."""
    with graph.graph_node() as node:
        graph.discover_all(node, args.spin_time)
        entries = node.get_topic_names_and_types()
    if not args.include_hidden_topics:
        entries = [entry for entry in entries if not topic_or_service_is_hidden(entry[0])]
    print_listing(entries, args)
    return 0
