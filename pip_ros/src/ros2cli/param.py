"""`ros2 param`: a node's parameters, read and set through its parameter services."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType, ParameterValue
from rclpy.node import Node
from rclpy.parameter import get_parameter_value, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from ros2cli import graph
from ros2cli.errors import CommandError

# Each type: the words that `param get` puts before the value, and those of `param list` and `param describe`.
_TYPES = {
    ParameterType.PARAMETER_NOT_SET: ("Parameter not set.", "not set"),
    ParameterType.PARAMETER_BOOL: ("Boolean value is:", "boolean"),
    ParameterType.PARAMETER_INTEGER: ("Integer value is:", "integer"),
    ParameterType.PARAMETER_DOUBLE: ("Double value is:", "double"),
    ParameterType.PARAMETER_STRING: ("String value is:", "string"),
    ParameterType.PARAMETER_BYTE_ARRAY: ("Byte values are:", "byte array"),
    ParameterType.PARAMETER_BOOL_ARRAY: ("Boolean values are:", "boolean array"),
    ParameterType.PARAMETER_INTEGER_ARRAY: ("Integer values are:", "integer array"),
    ParameterType.PARAMETER_DOUBLE_ARRAY: ("Double values are:", "double array"),
    ParameterType.PARAMETER_STRING_ARRAY: ("String values are:", "string array"),
}


def _plain(value: ParameterValue) -> Any:  # noqa: ANN401 - whatever a parameter can hold
    content = parameter_value_to_python(value)
    return content.tolist() if hasattr(content, "tolist") else content


class _Remote:
    """The parameters of one node in the graph."""

    def __init__(self, node: Node, name: str) -> None:
        self.name = name
        self._node = node
        self._client = AsyncParameterClient(node, name)
        if not graph.spin_until(node, self._client.services_are_ready, graph.SERVER_S):
            raise CommandError(f"Wait for service timed out waiting for parameter services for node {name}")

    def names(self) -> list[str]:
        return sorted(graph.spin_for_result(self._node, self._client.list_parameters([])).result.names)

    def descriptors(self, names: list[str]) -> list[ParameterDescriptor]:
        """What the node says of parameters; nothing if one of them is not declared."""
        return list(graph.spin_for_result(self._node, self._client.describe_parameters(names)).descriptors)

    def values(self, names: list[str]) -> list[ParameterValue]:
        return list(graph.spin_for_result(self._node, self._client.get_parameters(names)).values)

    def set(self, name: str, value: ParameterValue) -> Any:  # noqa: ANN401 - a SetParametersResult
        future = self._client.set_parameters([Parameter(name=name, value=value)])
        return graph.spin_for_result(self._node, future).results[0]


@contextmanager
def _remote(args: argparse.Namespace) -> Iterator[_Remote]:
    with graph.graph_node() as node:
        yield _Remote(node, graph.require_node(node, args.node_name))


def _node_arguments(parser: argparse.ArgumentParser) -> None:
    graph.add_discovery_arguments(parser)
    parser.add_argument("node_name", help="Name of the ROS node")


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    graph.add_discovery_arguments(parser)
    parser.add_argument("node_name", nargs="?", help="Name of the ROS node (default: all nodes)")
    parser.add_argument("--param-type", action="store_true", help="Print parameter types with parameter names")


def list_parameters(args: argparse.Namespace) -> int:
    """Output a list of available parameters, of one node or of all."""
    with graph.graph_node() as node:
        if not args.node_name:
            graph.discover(node, args.spin_time)
        for full in [graph.require_node(node, args.node_name)] if args.node_name else graph.node_names(node):
            try:
                remote = _Remote(node, full)
            except CommandError as error:
                sys.stderr.write(f"{error}\n")
                continue
            if not args.node_name:
                print(f"{full}:")
            for descriptor in remote.descriptors(remote.names()):
                kind = f" (type: {_TYPES[descriptor.type][1]})" if args.param_type else ""
                print(f"  {descriptor.name}{kind}")
    return 0


def _get_arguments(parser: argparse.ArgumentParser) -> None:
    _node_arguments(parser)
    parser.add_argument("parameter_name", help="Name of the parameter")
    parser.add_argument("--hide-type", action="store_true", help="Hide the type information")


def get(args: argparse.Namespace) -> int:
    """Get parameter."""
    with _remote(args) as remote:
        values = remote.values([args.parameter_name])
    if not values or values[0].type == ParameterType.PARAMETER_NOT_SET:
        raise CommandError(f"Parameter not set: '{args.parameter_name}'. See `ros2 param list {remote.name}`")
    print(_plain(values[0]) if args.hide_type else f"{_TYPES[values[0].type][0]} {_plain(values[0])}")
    return 0


def _set_arguments(parser: argparse.ArgumentParser) -> None:
    _node_arguments(parser)
    parser.add_argument("parameter_name", help="Name of the parameter")
    parser.add_argument("value", help="Value of the parameter, in YAML")


def set_parameter(args: argparse.Namespace) -> int:
    """Set parameter; a refusal by the node is an error here."""
    with _remote(args) as remote:
        result = remote.set(args.parameter_name, get_parameter_value(args.value))
    reason = f": {result.reason}" if result.reason else ""
    if not result.successful:
        raise CommandError(f"Setting parameter failed{reason}")
    print(f"Set parameter successful{reason}")
    return 0


def _describe_arguments(parser: argparse.ArgumentParser) -> None:
    _node_arguments(parser)
    parser.add_argument("parameter_names", nargs="+", help="Names of the parameters")


def describe(args: argparse.Namespace) -> int:
    """Show descriptive information about declared parameters."""
    with _remote(args) as remote:
        descriptors = remote.descriptors(args.parameter_names)
    if not descriptors:
        names = ", ".join(args.parameter_names)
        raise CommandError(f"Not declared: {names}. See `ros2 param list {remote.name}`")
    for descriptor in descriptors:
        print(f"Parameter name: {descriptor.name}\n  Type: {_TYPES[descriptor.type][1]}")
        if descriptor.description:
            print(f"  Description: {descriptor.description}")
        print("  Constraints:")
        if descriptor.read_only:
            print("    Read only: true")
        for allowed in [*descriptor.floating_point_range, *descriptor.integer_range][:1]:
            print(f"    Min value: {allowed.from_value}\n    Max value: {allowed.to_value}")
            print(f"    Step: {allowed.step}\n" if allowed.step else "", end="")
        if descriptor.additional_constraints:
            print(f"    Additional constraints: {descriptor.additional_constraints}")
    return 0


def dump(args: argparse.Namespace) -> int:
    """Show all of the parameters of a node in a YAML file format."""
    with _remote(args) as remote:
        names = remote.names()
        values = remote.values(names)
    tree: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        *folders, last = name.split(".")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = _plain(value)
    print(yaml.safe_dump({remote.name: {"ros__parameters": tree}}, default_flow_style=False))
    return 0


VERBS = {
    "describe": (_describe_arguments, describe),
    "dump": (_node_arguments, dump),
    "get": (_get_arguments, get),
    "list": (_list_arguments, list_parameters),
    "set": (_set_arguments, set_parameter),
}
