"""JSON from outside to typed records: every field present, of its type and finite, none besides, and texts plain."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from typing import Any, Final, TypeVar

MAX_PLAIN: Final = 500  # characters
Record = TypeVar("Record")


def plain(text: str) -> str:
    """One short line without control characters: a terminal obeys those, whoever wrote them."""
    if len(text) > MAX_PLAIN:
        text = text[: MAX_PLAIN - 3] + "..."
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"


class DecodeError(ValueError):
    """What was read is not such a record; the message starts with the path of the field."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))


def decode(kind: type[Record], value: object, path: str = "") -> Record:
    """Make a dataclass from what json.loads gave."""
    if not isinstance(value, dict):
        raise DecodeError(f"{path or kind.__name__}: an object is needed, found {type(value).__name__}")
    hints = _hints(typing.cast(Any, kind))
    if value.keys() != hints.keys():
        odd = min(value.keys() ^ hints.keys())
        raise DecodeError(f"{path}{odd}: is {'unknown' if odd in value else 'missing'}")
    fields = {name: _value(hints[name], value[name], path + name) for name in hints}
    try:
        return kind(**fields)
    except (ValueError, TypeError, OverflowError) as error:
        raise DecodeError(f"{path or kind.__name__}: {error}") from error


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _value(hint: Any, value: object, path: str) -> object:  # noqa: ANN401 (types have no common type)
    if dataclasses.is_dataclass(hint):
        return decode(typing.cast(type[object], hint), value, path + ".")
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):  # only `X | None` occurs
        return None if value is None else _value(arguments[0], value, path)
    if origin is tuple:
        return _tuple(arguments, value, path)
    if origin is dict:
        return {_text(key, path): _value(arguments[1], entry, f"{path}.{key}") for key, entry in _items(value, path)}
    return _scalar(hint, value, path)


def _tuple(arguments: tuple[Any, ...], value: object, path: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise DecodeError(f"{path}: a list is needed, found {type(value).__name__}")
    hints = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
    if len(hints) != len(value):
        raise DecodeError(f"{path}: {len(hints)} entries are needed, found {len(value)}")
    return tuple(_value(hint, entry, f"{path}[{i}]") for i, (hint, entry) in enumerate(zip(hints, value, strict=True)))


def _items(value: object, path: str) -> list[tuple[object, object]]:
    if not isinstance(value, dict):
        raise DecodeError(f"{path}: an object is needed, found {type(value).__name__}")
    return list(value.items())


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise DecodeError(f"{path}: text is needed, found {type(value).__name__}")
    return plain(value)


def _scalar(hint: type, value: object, path: str) -> object:
    if hint is float and type(value) in (int, float):
        try:
            number = float(typing.cast(float, value))
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
        raise DecodeError(f"{path}: is not finite")
    if type(value) is not hint:
        raise DecodeError(f"{path}: {hint.__name__} is needed, found {type(value).__name__}")
    return plain(value) if isinstance(value, str) else value
