"""Messages as text: the YAML and CSV that `topic echo` and `action send_goal` print."""

from __future__ import annotations

import array
import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractString,
    AbstractType,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

_SEQUENCES = (list, tuple, array.array, np.ndarray)
Message = Any  # generated classes share no base


@dataclass(frozen=True)
class Style:
    """How much of a message to show."""

    truncate_length: int | None = None
    no_arrays: bool = False
    no_strings: bool = False
    flow: bool = False

    def cuts(self, length: int) -> bool:
        return self.truncate_length is not None and length > self.truncate_length


class _Dumper(yaml.SafeDumper):
    """Keeps the fields' order, and one field per line even where sequences are written in one."""

    def represent_fields(self, fields: dict[str, object]) -> yaml.MappingNode:
        return self.represent_mapping("tag:yaml.org,2002:map", list(fields.items()), flow_style=False)


_Dumper.add_representer(dict, _Dumper.represent_fields)


def to_yaml(message: Message, style: Style = Style()) -> str:  # noqa: B008 - frozen
    """Write the message as one YAML document, fields in the order of their definition."""
    plain = to_dict(message, style)
    return yaml.dump(plain, Dumper=_Dumper, allow_unicode=True, width=sys.maxsize, default_flow_style=style.flow)


def to_dict(message: Message, style: Style = Style()) -> dict[str, object]:  # noqa: B008 - frozen
    """Turn the message into plain dictionaries, lists and scalars."""
    return {name: _plain(getattr(message, name), style, slot) for name, slot in slot_types(message).items()}


def to_csv(message: Message, style: Style = Style()) -> str:  # noqa: B008 - frozen
    """Write all fields, recursively, as one comma-separated line."""
    return _joined(_csv(getattr(message, name), style, slot) for name, slot in slot_types(message).items())


def slot_types(message: Message) -> dict[str, AbstractType]:
    """Map each field's name to its declared type."""
    return dict(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))


def _plain(value: Any, style: Style, slot: AbstractType | None = None) -> object:  # noqa: ANN401
    if isinstance(value, bytes):
        text = value.decode("latin-1")
        return text[: style.truncate_length] + "..." if style.cuts(len(text)) else text
    if isinstance(value, str):
        return _plain_string(value, style)
    if isinstance(value, _SEQUENCES):
        if style.no_arrays and isinstance(slot, AbstractNestedType):
            return _array_summary(value, slot)
        ellipsis = ["..."] if style.cuts(len(value)) else []
        return [_plain(item, style) for item in value[: style.truncate_length]] + ellipsis
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float)):
        return value
    return to_dict(value, style)


def _plain_string(value: str, style: Style) -> str:
    if style.no_strings:
        return f"<string length: <{len(value)}>>"
    return value[: style.truncate_length] + "..." if style.cuts(len(value)) else value


def _csv(value: Any, style: Style, slot: AbstractType | None = None) -> str:  # noqa: ANN401
    if isinstance(value, _SEQUENCES):
        if style.no_arrays and isinstance(slot, AbstractNestedType):
            return _array_summary(value, slot)
        ellipsis = ["..."] if style.cuts(len(value)) else []
        return _joined([_csv(item, style) for item in value[: style.truncate_length]] + ellipsis)
    if isinstance(value, str):
        return _plain_string(value, style)
    if isinstance(value, bytes):
        return str(value[: style.truncate_length] + b"..." if style.cuts(len(value)) else value)
    if isinstance(value, (bool, int, float, np.generic)):
        return str(value)
    return to_csv(value, style)


def _joined(parts: Iterable[str]) -> str:
    """Put commas between the parts, but none before the first that is not empty, as the genuine command does."""
    return functools.reduce(lambda line, part: f"{line},{part}" if line else part, parts, "")


def _array_summary(value: Any, slot: AbstractNestedType) -> str:  # noqa: ANN401
    item = _item_type_name(slot.value_type)
    if isinstance(slot, Array):
        return f"<array type: {item}[{slot.size}]>"
    if isinstance(slot, BoundedSequence):
        return f"<sequence type: {item}[{slot.maximum_size}], length: {len(value)}>"
    return f"<sequence type: {item}, length: {len(value)}>"


def _item_type_name(item: AbstractType) -> str:
    if isinstance(item, BasicType):
        return str(item.typename)
    if isinstance(item, NamespacedType):
        return "/".join(item.namespaced_name())
    return "string" if isinstance(item, AbstractString) else "wstring"
