"""`ros2 param list`."""

from __future__ import annotations

import argparse
import re
import sys

from rclpy.node import Node

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.parameters import RemoteParameters


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    parser.add_argument("node_name", nargs="?", help="Name of the ROS node (default: all nodes)")
    parser.add_argument("--include-hidden-nodes", action="store_true", help="Consider hidden nodes as well")
    parser.add_argument("--filter", metavar="REGEX", type=_regex, default="", help="Only show parameters matching it")
    parser.add_argument("--param-prefixes", nargs="+", default=[], help="Only list parameters with these prefixes")
    parser.add_argument("--param-type", action="store_true", help="Print parameter types with parameter names")


def _print_parameters(node: Node, remote: graph.NodeName, args: argparse.Namespace) -> None:
    parameters = RemoteParameters(node, remote)
    names = [name for name in parameters.names(args.param_prefixes) if args.filter.match(name)]
    types = parameters.type_names(names) if args.param_type else {}
    if names and not args.node_name:
        print(f"{remote.full}:")
    for name in names:
        print(f"  {name} (type: {types[name]})" if args.param_type else f"  {name}")


def run(args: argparse.Namespace) -> int:
    """Print one node's parameters, or every node's below its name."""
    with graph.graph_node() as node:
        if args.node_name:
            remote = graph.require_node(node, args.node_name, include_hidden=args.include_hidden_nodes)
            _print_parameters(node, remote, args)
            return 0
        graph.discover_all(node, args.spin_time)
        for remote in graph.node_names(node, include_hidden=args.include_hidden_nodes):
            try:
                _print_parameters(node, remote, args)
            except CommandError as error:
                sys.stderr.write(f"{error}\n")
    return 0
