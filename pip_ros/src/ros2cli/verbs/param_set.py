"""`ros2 param set`."""

from __future__ import annotations

import argparse

from rclpy.parameter import get_parameter_value

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.parameters import RemoteParameters, add_node_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    add_node_arguments(parser)
    parser.add_argument("value", help="Value of the parameter, in YAML")


def run(args: argparse.Namespace) -> int:
    """Set the value; a refusal by the node is an error here."""
    value = get_parameter_value(args.value)
    with graph.graph_node() as node:
        remote = graph.require_node(
            node, args.node_name, include_hidden=args.include_hidden_nodes, timeout_s=args.timeout
        )
        result = RemoteParameters(node, remote).set(args.parameter_name, value)
    reason = f": {result.reason}" if result.reason else ""
    if not result.successful:
        raise CommandError(f"Setting parameter failed{reason}")
    print(f"Set parameter successful{reason}")
    return 0
