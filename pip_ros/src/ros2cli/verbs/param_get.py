"""`ros2 param get`."""

from __future__ import annotations

import argparse

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.parameters import RemoteParameters, add_node_arguments, describe_value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    add_node_arguments(parser)
    parser.add_argument("--hide-type", action="store_true", help="Hide the type information")


def run(args: argparse.Namespace) -> int:
    """Print the value, with its type in words unless hidden."""
    with graph.graph_node() as node:
        remote = graph.require_node(
            node, args.node_name, include_hidden=args.include_hidden_nodes, timeout_s=args.timeout
        )
        value = RemoteParameters(node, remote).get(args.parameter_name)
    if value is None:
        raise CommandError(
            f"Parameter not set: '{args.parameter_name}'. `ros2 param list {remote.full}` shows those of the node"
        )
    label, content = describe_value(value)
    print(content if args.hide_type else f"{label} {content}")
    return 0
