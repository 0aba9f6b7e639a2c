"""`ros2 node list`."""

from __future__ import annotations

import argparse
import sys

from ros2cli import graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    parser.add_argument("-a", "--all", action="store_true", help="Display all nodes even hidden ones")
    parser.add_argument("-c", "--count-nodes", action="store_true", help="Only display the number of nodes discovered")


def run(args: argparse.Namespace) -> int:
    """Print the full names, sorted."""
    with graph.graph_node() as node:
        graph.discover_all(node, args.spin_time)
        names = [name.full for name in graph.node_names(node, include_hidden=args.all)]
    if args.count_nodes:
        print(len(names))
        return 0
    if len(set(names)) < len(names):
        sys.stderr.write(
            "WARNING: Be aware that there are nodes in the graph that share an exact name, "
            "which can have unintended side effects.\n"
        )
    for name in names:
        print(name)
    return 0
