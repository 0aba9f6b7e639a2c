"""What every action does with the text and the values it is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin

import yaml

from .substitution import SomeSubstitutionsType, Substitution

if TYPE_CHECKING:
    from .launch_context import LaunchContext

Value = TypeVar("Value")


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Give text, a substitution or a sequence of them one form."""
    from .substitutions import TextSubstitution

    def one(part: object) -> Substitution:
        if isinstance(part, Substitution):
            return part
        if isinstance(part, str):
            return TextSubstitution(text=part)
        raise TypeError(f"expected text, a substitution or a list of these, got {part!r}")

    if isinstance(subs, (str, Substitution)) or not isinstance(subs, Iterable):
        return [one(subs)]
    return [one(part) for part in subs]


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Text of all parts, joined."""
    return "".join(context.perform_substitution(part) for part in subs)


def perform(context: LaunchContext, subs: SomeSubstitutionsType) -> str:
    """Text of anything that may stand for text."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(subs))


def perform_typed(context: LaunchContext, value: object, data_type: type[Value]) -> Value:
    """Read a value that was given as such, or as substitutions that become its text."""
    if isinstance(value, (bool, int, float)):
        return cast(Value, _checked(value, data_type, str(value)))
    return cast(Value, coerce(perform(context, cast(SomeSubstitutionsType, value)), data_type))


def coerce(text: str, data_type: Any = None) -> Any:  # noqa: ANN401 - a type such as list[int] has no static type
    """Read text by the rules of YAML as `data_type`, or as any type that a parameter can have."""
    if data_type is str:
        return text
    value = yaml.safe_load(text) if text else ""
    if get_origin(data_type) is list:
        if not isinstance(value, list):
            raise ValueError(f"expected a list like [1, 2], got '{text}'")
        return [_checked(item, get_args(data_type)[0], text) for item in value]
    if data_type is None and isinstance(value, list):
        return uniform(value)
    return _checked(value, data_type, text)


def uniform(values: Sequence[Any]) -> list[Any]:
    """Refuse lists of mixed types, which no parameter can hold; whole numbers among fractions become fractions."""
    types = {type(value) for value in values}
    if types == {int, float}:
        return [float(value) for value in values]
    if len(types) > 1 or not types <= {bool, int, float, str}:
        raise ValueError(f"expected a list of one type (bool, int, float or str), got {list(values)!r}")
    return list(values)


def _checked(value: object, data_type: type | None, text: str) -> object:
    if data_type is float and type(value) is int:
        return float(value)
    if data_type is str and not isinstance(value, str):
        return str(value)
    allowed = (bool, int, float, str) if data_type is None else (data_type,)
    if type(value) not in allowed:
        raise ValueError(f"expected {' or '.join(kind.__name__ for kind in allowed)}, got '{text}'")
    return value
