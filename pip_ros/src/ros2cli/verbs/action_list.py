"""`ros2 action list`."""

from __future__ import annotations

import argparse

from rclpy.action import get_action_names_and_types

from ros2cli import graph
from ros2cli.listing import add_listing_arguments, print_listing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    add_listing_arguments(parser, "action")


def run(args: argparse.Namespace) -> int:
    """Print the names, with types when asked for."""
    with graph.graph_node() as node:
        graph.discover_all(node)
        entries = get_action_names_and_types(node)
    print_listing(entries, args)
    return 0
