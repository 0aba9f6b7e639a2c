"""Messages by the name of their type, from YAML, and as YAML."""

import array
import importlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import (
    AbstractGenericString,
    AbstractNestedType,
    AbstractType,
    BasicType,
    NamespacedType,
)

from ros2cli.errors import CommandError

os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"  # read by each message's module: what does not fit a field is refused
Message = Any  # generated classes share no base
_NOUNS = {"msg": "message", "srv": "service", "action": "action"}


def interface_class(name: str, kind: str) -> Any:  # noqa: ANN401 - generated classes share no base
    """Import the class of an interface; `package/Name` is accepted for `package/<kind>/Name`."""
    package, *middle, base_name = name.split("/")
    try:
        if middle not in ([], [kind]):
            raise AttributeError
        return getattr(importlib.import_module(f"{package}.{kind}"), base_name)
    except (ImportError, AttributeError, ValueError):
        example = f"expected package/{kind}/Name of an installed package"
        raise CommandError(f"The passed {_NOUNS[kind]} type is invalid: '{name}'; {example}") from None


def fill_from_yaml(message: Message, text: str) -> list[Message]:
    """Set the fields the text names; give the stamps to set on sending, for which it has `now` or `auto`."""
    stamps: list[Message] = []
    try:
        _fill(message, yaml.safe_load(text), "", stamps)
    except yaml.YAMLError as error:
        raise CommandError(f"The passed values are not YAML: {error}") from None
    except (AssertionError, TypeError, ValueError) as error:
        raise CommandError(f"Failed to populate field: {error}") from None
    return stamps


def slot_types(message: Message) -> dict[str, AbstractType]:
    """Map each field's name to its declared type."""
    return dict(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))


def _fill(message: Message, values: object, path: str, stamps: list[Message]) -> None:
    kind = type(message).__name__
    if (kind, values) in (("Time", "now"), ("Header", "auto")):
        stamps.append(message if kind == "Time" else message.stamp)
        return
    if not isinstance(values, Mapping):
        raise ValueError(f"{path or 'the message'} needs a mapping such as '{{field: value}}', got {values!r}")
    slots = slot_types(message)
    for name, value in values.items():
        if name not in slots:
            raise ValueError(f"no field '{path}{name}'; there are: {', '.join(slots) or 'none'}")
        setattr(message, name, _fitted(value, slots[name], f"{path}{name}", stamps))


def _fitted(value: Any, slot: AbstractType, path: str, stamps: list[Message]) -> Any:  # noqa: ANN401
    if isinstance(slot, NamespacedType):
        message = getattr(importlib.import_module(".".join(slot.namespaces)), slot.name)()
        _fill(message, value, f"{path}.", stamps)
        return message
    if isinstance(slot, AbstractNestedType):
        if not isinstance(value, list):
            raise ValueError(f"'{path}' needs a list, got {value!r}")
        return [_fitted(item, slot.value_type, f"{path}[{index}]", stamps) for index, item in enumerate(value)]
    if isinstance(slot, AbstractGenericString) and not isinstance(value, (Mapping, list)):
        return str(value)
    if isinstance(slot, BasicType) and slot.typename in ("float", "double"):
        return float(value)
    return bytes([value]) if isinstance(slot, BasicType) and slot.typename == "octet" else value


def to_yaml(message: Message, length: int | None) -> str:
    """Write the message as YAML, fields in the order of their definition; long arrays and texts are cut at `length`."""
    plain = _plain(message, length)
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=2**31, default_flow_style=False)


def _plain(value: Any, length: int | None) -> object:  # noqa: ANN401
    if hasattr(value, "SLOT_TYPES"):
        return {name: _plain(getattr(value, name), length) for name in slot_types(value)}
    cut = length is not None and hasattr(value, "__len__") and len(value) > length
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        return text[:length] + "..." if cut else text
    if isinstance(value, (list, tuple, array.array, np.ndarray)):
        return [_plain(item, length) for item in value[:length]] + (["..."] if cut else [])
    return value.item() if isinstance(value, np.generic) else value
