"""`ros2 param describe`."""

from __future__ import annotations

import argparse

from rcl_interfaces.msg import ParameterDescriptor

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.parameters import RemoteParameters, add_one_node_arguments, type_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    graph.add_discovery_arguments(parser)
    add_one_node_arguments(parser)
    parser.add_argument("parameter_names", nargs="+", help="Names of the parameters")


def run(args: argparse.Namespace) -> int:
    """Print what each parameter means and what it may be."""
    with graph.graph_node() as node:
        remote = graph.require_node(
            node, args.node_name, include_hidden=args.include_hidden_nodes, timeout_s=args.timeout
        )
        descriptors = RemoteParameters(node, remote).descriptors(args.parameter_names)
    if not descriptors:
        names = ", ".join(args.parameter_names)
        raise CommandError(f"Not declared: {names}. `ros2 param list {remote.full}` shows those of the node")
    for descriptor in descriptors:
        print("\n".join(_lines(descriptor)))
    return 0


def _lines(descriptor: ParameterDescriptor) -> list[str]:
    lines = [f"Parameter name: {descriptor.name}", f"  Type: {type_name(descriptor)}"]
    if descriptor.description:
        lines.append(f"  Description: {descriptor.description}")
    lines.append("  Constraints:")
    if descriptor.read_only:
        lines.append("    Read only: true")
    for allowed in [*descriptor.floating_point_range, *descriptor.integer_range][:1]:
        lines += [f"    Min value: {allowed.from_value}", f"    Max value: {allowed.to_value}"]
        if allowed.step:
            lines.append(f"    Step: {allowed.step}")
    if descriptor.additional_constraints:
        lines.append(f"    Additional constraints: {descriptor.additional_constraints}")
    return lines
