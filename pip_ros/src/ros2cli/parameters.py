"""A node's parameters, read and set through its parameter services."""

from __future__ import annotations

import argparse

from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType, ParameterValue, SetParametersResult
from rclpy.node import Node
from rclpy.parameter_client import AsyncParameterClient

from ros2cli.errors import CommandError
from ros2cli.graph import POLL_S, NodeName, spin_for_result, spin_until

SERVICE_TIMEOUT_S = 5.0

# Each type: the words `param get` says before the value, the words `param list` uses, the field of the value.
_TYPES = {
    ParameterType.PARAMETER_BOOL: ("Boolean value is:", "boolean", "bool_value"),
    ParameterType.PARAMETER_INTEGER: ("Integer value is:", "integer", "integer_value"),
    ParameterType.PARAMETER_DOUBLE: ("Double value is:", "double", "double_value"),
    ParameterType.PARAMETER_STRING: ("String value is:", "string", "string_value"),
    ParameterType.PARAMETER_BYTE_ARRAY: ("Byte values are:", "byte array", "byte_array_value"),
    ParameterType.PARAMETER_BOOL_ARRAY: ("Boolean values are:", "boolean array", "bool_array_value"),
    ParameterType.PARAMETER_INTEGER_ARRAY: ("Integer values are:", "integer array", "integer_array_value"),
    ParameterType.PARAMETER_DOUBLE_ARRAY: ("Double values are:", "double array", "double_array_value"),
    ParameterType.PARAMETER_STRING_ARRAY: ("String values are:", "string array", "string_array_value"),
}


def add_node_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verbs that speak to one parameter of one node."""
    add_one_node_arguments(parser)
    parser.add_argument("parameter_name", help="Name of the parameter")


def add_one_node_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verbs that speak to one node's parameters."""
    parser.add_argument("node_name", help="Name of the ROS node")
    parser.add_argument("--include-hidden-nodes", action="store_true", help="Consider hidden nodes as well")
    parser.add_argument(
        "--timeout", metavar="N", type=int, default=4, help="Seconds to wait for the node (default %(default)s)"
    )


def describe_value(value: ParameterValue) -> tuple[str, object]:
    """Give the words before a value and the value as plain Python."""
    label, _, field = _TYPES[value.type]
    content = getattr(value, field)
    return label, content.tolist() if hasattr(content, "tolist") else content


def type_name(descriptor: ParameterDescriptor) -> str:
    """Give a parameter's type in the words of `param list`."""
    return _TYPES[descriptor.type][1] if descriptor.type in _TYPES else "not set"


class RemoteParameters:
    """The parameters of one node in the graph."""

    def __init__(self, node: Node, remote: NodeName) -> None:
        self._node = node
        self._client = AsyncParameterClient(node, remote.full)
        if not spin_until(node, self._client.services_are_ready, SERVICE_TIMEOUT_S, POLL_S):
            raise CommandError(f"Wait for service timed out waiting for parameter services for node {remote.full}")

    def names(self, prefixes: list[str]) -> list[str]:
        response = spin_for_result(self._node, self._client.list_parameters(prefixes))
        return sorted(response.result.names)

    def type_names(self, names: list[str]) -> dict[str, str]:
        return {descriptor.name: type_name(descriptor) for descriptor in self.descriptors(names)}

    def descriptors(self, names: list[str]) -> list[ParameterDescriptor]:
        """What the node says of parameters; nothing if one of them is not declared."""
        return list(spin_for_result(self._node, self._client.describe_parameters(names)).descriptors)

    def get(self, name: str) -> ParameterValue | None:
        """Read one parameter; None when it is not declared or has no value."""
        values = spin_for_result(self._node, self._client.get_parameters([name])).values
        return values[0] if values and values[0].type in _TYPES else None

    def set(self, name: str, value: ParameterValue) -> SetParametersResult:
        request = [Parameter(name=name, value=value)]
        return spin_for_result(self._node, self._client.set_parameters(request)).results[0]
