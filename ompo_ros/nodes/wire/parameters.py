"""Parameters as users meet them: each with a type, a range and a sentence, read-only, and none unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

Value = TypeVar("Value", bool, int, float, str, list[str], list[float])


class InvalidParameter(ValueError):
    """A parameter the node cannot start with; the message says what is allowed."""


def declare(
    node: Node,
    name: str,
    default: Value,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
) -> Value:
    """Declare one parameter and return its value; a value outside the range or the choices is refused."""
    descriptor = ParameterDescriptor(description=description, read_only=True)
    if choices:
        descriptor.additional_constraints = f"one of: {', '.join(choices)}"
    if low is not None and high is not None:
        if isinstance(default, float):
            descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(high))]
        else:
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
    value = node.declare_parameter(name, default, descriptor).value
    if choices and value not in choices:
        raise InvalidParameter(f"parameter {name!r} is {value!r}, but must be one of: {', '.join(choices)}")
    return value  # type: ignore[no-any-return]


def refuse_unknown(node: Node) -> None:
    """Refuse what was set but never declared: a misspelt name would otherwise change nothing, silently."""
    unknown = sorted(name for name in node._parameter_overrides if not node.has_parameter(name))
    if unknown:
        known = ", ".join(sorted(node._parameters))
        raise InvalidParameter(f"unknown parameter(s) {', '.join(unknown)}; this node has: {known}")
