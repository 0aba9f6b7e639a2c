"""A node's declared parameters as ROS parameters: typed, ranged, described, read-only, and none unknown."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from ompo_ros.parameters import Parameter, Value, parameters_of, with_values
from ompo_ros.spelling import meant

OVERRIDES: Final[dict[str, Any]] = {"automatically_declare_parameters_from_overrides": True}
"""Options for rclpy's constructor, so that `declare` sees parameters with unknown names."""

_RCLPYS_OWN: Final = frozenset({"use_sim_time", "start_type_description_service"})
Declared = TypeVar("Declared")


class UnknownParameter(ValueError):
    """A parameter was set that the node does not have; the message names the nearest."""


def declare(node: Node, kind: type[Declared]) -> Declared:
    """Declare all parameters of a node and return their values; wrong values and unknown names are refused."""
    known = {parameter.name: parameter for parameter in parameters_of(kind)}
    given = set(node.get_parameters_by_prefix("")) - _RCLPYS_OWN
    for name in sorted(given - set(known)):
        raise UnknownParameter(f"unknown parameter {name!r}; {meant(name, sorted(known))}")
    for name in given:
        node.undeclare_parameter(name)  # rclpy declared it without type, range and text
    return with_values(kind, {name: _declare(node, parameter) for name, parameter in known.items()})


def _declare(node: Node, parameter: Parameter) -> Value:
    unset = parameter.default == ()
    default = RosParameter.Type.DOUBLE_ARRAY if unset else parameter.default
    value = node.declare_parameter(parameter.name, default, _descriptor(parameter)).value
    return parameter.check(tuple(value or ()) if isinstance(parameter.default, tuple) else value)


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    paper = f" (paper: {parameter.paper})" if parameter.paper else ""
    descriptor = ParameterDescriptor(description=parameter.description + paper, read_only=True)
    if parameter.choices:
        descriptor.additional_constraints = f"one of: {', '.join(parameter.choices)}"
    elif isinstance(parameter.default, float):
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=float(parameter.low), to_value=float(parameter.high))
        ]
    elif parameter.is_number:
        descriptor.integer_range = [IntegerRange(from_value=int(parameter.low), to_value=int(parameter.high), step=1)]
    return descriptor
