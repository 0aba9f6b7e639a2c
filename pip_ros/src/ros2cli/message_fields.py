"""Filling a message from the YAML of a command line; what does not fit is refused by the field's name."""

from __future__ import annotations

import array
import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import (
    AbstractGenericString,
    AbstractNestedType,
    AbstractType,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

from ros2cli.errors import CommandError
from ros2cli.message_text import Message, slot_types


def fill_from_yaml(message: Message, text: str | bytes) -> None:
    """Set the fields the text names; the others keep their defaults."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CommandError(f"The passed values are not YAML: {error}") from None
    try:
        set_fields(message, values)
    except ValueError as error:
        raise CommandError(f"Failed to populate field: {error}") from None


def set_fields(message: Message, values: object, path: str = "") -> None:
    """Set fields recursively; `path` names the message inside the outermost one."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{path or 'the message'} needs a mapping such as '{{field: value}}', got {values!r}")
    slots = slot_types(message)
    for name, value in values.items():
        if name not in slots:
            raise ValueError(f"no field '{_join(path, name)}'; there are: {', '.join(slots) or 'none'}")
        plain = _convert(value, slots[name], _join(path, name))
        setattr(message, name, _like(getattr(message, name), plain))


def _join(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _like(current: object, value: Any) -> Any:  # noqa: ANN401
    """Give numeric sequences the representation the generated class uses."""
    if isinstance(current, array.array):
        return array.array(current.typecode, value)
    if isinstance(current, np.ndarray):
        return np.array(value, dtype=current.dtype)
    return value


def _convert(value: object, slot: AbstractType, path: str) -> Any:  # noqa: ANN401
    if isinstance(slot, NamespacedType):
        message = getattr(importlib.import_module(".".join(slot.namespaces)), slot.name)()
        set_fields(message, value, path)
        return message
    if isinstance(slot, AbstractNestedType):
        return _convert_sequence(value, slot, path)
    if isinstance(slot, AbstractGenericString):
        if isinstance(value, (Mapping, list)):
            raise ValueError(f"'{path}' needs a string, got {value!r}")
        return str(value)
    if isinstance(slot, BasicType):
        return _convert_number(value, slot.typename, path)
    raise ValueError(f"'{path}' has a type that cannot be given on a command line")


def _convert_sequence(value: object, slot: AbstractNestedType, path: str) -> list[Any]:
    if not isinstance(value, (list, bytes)):
        raise ValueError(f"'{path}' needs a list, got {value!r}")
    if isinstance(slot, Array) and len(value) != slot.size:
        raise ValueError(f"'{path}' needs {slot.size} elements, got {len(value)}")
    if isinstance(slot, BoundedSequence) and len(value) > slot.maximum_size:
        raise ValueError(f"'{path}' takes at most {slot.maximum_size} elements, got {len(value)}")
    return [_convert(item, slot.value_type, f"{path}[{index}]") for index, item in enumerate(value)]


def _convert_number(value: object, typename: str, path: str) -> Any:  # noqa: ANN401
    convert: Callable[[Any], Any] = _CONVERTERS.get(typename, _integer)
    try:
        number = convert(value)
    except (TypeError, ValueError):
        raise ValueError(f"'{path}' needs a value of type {typename}, got {value!r}") from None
    _check_range(number, typename, path)
    return number


def _boolean(value: object) -> bool:
    if value not in (True, False):
        raise ValueError
    return bool(value)


def _integer(value: Any) -> int:  # noqa: ANN401
    number = int(value)
    if isinstance(value, float) and number != value:
        raise ValueError
    return number


def _octet(value: object) -> bytes:
    if isinstance(value, int):
        return bytes([value])
    if isinstance(value, str):
        value = value.encode("latin-1")
    if not isinstance(value, bytes) or len(value) != 1:
        raise ValueError
    return value


def _check_range(number: int, typename: str, path: str) -> None:
    width = re.fullmatch(r"(u?)int(\d+)", typename)
    if width is None:
        return
    bits = int(width[2])
    low, high = (0, 2**bits - 1) if width[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= number <= high:
        raise ValueError(f"'{path}' is {number}, outside {low} to {high} of {typename}")


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "boolean": _boolean,
    "double": float,
    "float": float,
    "long double": float,
    "octet": _octet,
}
