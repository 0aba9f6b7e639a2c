"""One declaration per parameter: a field of a frozen dataclass, with its default, range and meaning.

ROS parameters, docs/parameters.md and all checks come from these declarations.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

Value = bool | int | float | str | tuple[float, ...]
Declared = TypeVar("Declared")


class InvalidParameter(ValueError):
    """A parameter that cannot be used; `name` says which, the message says what is allowed."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name


@dataclass(frozen=True)
class Parameter:
    """One parameter as a parameter server, a help text or a table needs it."""

    name: str
    default: Value
    description: str
    low: float
    high: float
    choices: tuple[str, ...]
    paper: str  # the paper's value; empty where the paper has no such thing

    @property
    def is_number(self) -> bool:
        return isinstance(self.default, (int, float)) and not isinstance(self.default, bool)

    def check(self, value: object) -> Value:
        """Return the value in the parameter's own type, or say what is allowed."""
        kind = type(self.default)
        if kind is float and type(value) is int:
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InvalidParameter(self.name, f"{value!r} is {type(value).__name__}, {kind.__name__} is needed")
        if self.choices and value not in self.choices:
            raise InvalidParameter(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
        if self.is_number and isinstance(value, (int, float)) and not self._is_within(value):
            raise InvalidParameter(self.name, f"{value} is not within [{self.low:g}, {self.high:g}]")
        return value

    def _is_within(self, value: float) -> bool:
        return math.isfinite(value) and self.low <= value <= self.high


def parameter(
    default: Value,
    description: str,
    *,
    low: float = 0.0,
    high: float = 1e12,
    choices: tuple[str, ...] = (),
    paper: str = "",
) -> Any:  # noqa: ANN401 (as dataclasses.field: the field has the type it is declared with)
    """Declare a parameter as the field of a frozen dataclass."""
    return field(
        default=default,
        metadata={"description": description, "low": low, "high": high, "choices": choices, "paper": paper},
    )


def parameters_of(kind: type, prefix: str = "") -> Iterator[Parameter]:
    """List what a dataclass declares, in order; a field with a `prefix` is a dataclass with parameters of its own."""
    for item in dataclasses.fields(kind):
        if "prefix" in item.metadata:
            yield from parameters_of(_group(item), prefix + item.metadata["prefix"])
        else:
            yield Parameter(name=prefix + item.name, default=item.default, **item.metadata)  # type: ignore[arg-type]


def with_values(kind: type[Declared], values: Mapping[str, Value], prefix: str = "") -> Declared:
    """Make the dataclass from values by their full names; missing ones keep their defaults."""
    fields: dict[str, object] = {}
    for item in dataclasses.fields(kind):  # type: ignore[arg-type] # a dataclass is any type
        name = prefix + item.name
        if "prefix" in item.metadata:
            fields[item.name] = with_values(_group(item), values, prefix + item.metadata["prefix"])
        elif name in values:
            fields[item.name] = values[name]
    return kind(**fields)


def _group(item: dataclasses.Field[Any]) -> type:
    return item.default_factory  # type: ignore[return-value] # which is the dataclass itself


def check(declared: object) -> None:
    """Check every field of a declared dataclass, in place; for its `__post_init__`."""
    for item in parameters_of(type(declared)):
        object.__setattr__(declared, item.name, item.check(getattr(declared, item.name)))
