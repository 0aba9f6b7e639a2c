"""Parameters of nodes, as launch files give them."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from launch import LaunchContext
from launch.substitution import Substitution, perform

Evaluated = bool | int | float | str | list[Any]


def evaluate_parameters(context: LaunchContext, parameters: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Work out a dictionary of parameters; nested names are joined by dots."""
    found: dict[str, Any] = {}
    for key, value in parameters.items():
        name = prefix + perform(context, key)
        try:
            if isinstance(value, Mapping):
                found.update(evaluate_parameters(context, value, f"{name}."))
            else:
                found[name] = _evaluated(context, value)
        except (TypeError, ValueError, yaml.YAMLError) as error:
            raise TypeError(f"parameter '{name}': {error}") from None
    return found


def _evaluated(context: LaunchContext, value: object) -> Evaluated:
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Substitution):
        return _checked(yaml.safe_load(perform(context, value) or "''"))
    if not isinstance(value, Sequence) or not value:
        raise TypeError(f"expected a bool, int, float, str or a list of one of these, got {value!r}")
    if any(isinstance(item, Substitution) for item in value):
        return _checked(yaml.safe_load(perform(context, value) or "''"))
    return _checked(list(value))


def _checked(value: Any) -> Evaluated:  # noqa: ANN401 - whatever YAML gives
    """Refuse what no parameter can hold, such as lists of mixed types; 1 among fractions becomes 1.0."""
    items = value if isinstance(value, list) else [value]
    types = {type(item) for item in items}
    if types == {int, float}:
        return [float(item) for item in items]
    if len(types) != 1 or not types <= {bool, int, float, str}:
        raise TypeError(f"expected a bool, int, float, str or a list of one of these, got {value!r}")
    return value  # type: ignore[no-any-return]
