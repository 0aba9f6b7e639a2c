"""Parameters of nodes, as launch files give them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import coerce, normalize_to_list_of_substitutions, perform, perform_typed, uniform

from .substitution_text import expand

__all__ = ["Parameter", "ParameterFile", "ParameterValue"]

Scalar = bool | int | float | str
Evaluated = Scalar | list[Any]


class ParameterValue:
    """A value with a type: by default the text of a substitution is read by YAML's rules."""

    def __init__(self, value: Any, *, value_type: Any = None) -> None:  # noqa: ANN401 - see _evaluated
        self.value = value
        self.value_type = value_type

    def evaluate(self, context: LaunchContext) -> Evaluated:
        if self.value_type is None:
            return _evaluated(context, self.value)
        if isinstance(self.value, (bool, int, float)) or _is_plain_list(self.value):
            return coerced(yaml.safe_dump(self.value, default_flow_style=True), self.value_type)
        return coerced(perform(context, self.value), self.value_type)


class Parameter:
    """A parameter that is given to the node on its command line."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, value_type: Any = None) -> None:  # noqa: ANN401
        self.name = normalize_to_list_of_substitutions(name)
        self._value = ParameterValue(value, value_type=value_type)

    def evaluate(self, context: LaunchContext) -> tuple[str, Evaluated]:
        return perform(context, self.name), self._value.evaluate(context)


class ParameterFile:
    """A YAML file of parameters, in which substitutions may be allowed."""

    def __init__(
        self,
        param_file: SomeSubstitutionsType | PathLike[str],
        *,
        allow_substs: bool | SomeSubstitutionsType = False,
    ) -> None:
        self._file = param_file
        self._allow_substs = allow_substs

    def makes_copies(self, context: LaunchContext) -> bool:
        return perform_typed(context, self._allow_substs, bool)

    def evaluate(self, context: LaunchContext) -> Path:
        """Give the path of the file, or of a copy with its substitutions made."""
        path = Path(self._file if isinstance(self._file, PathLike) else perform(context, self._file))
        if not self.makes_copies(context):
            return path
        text = expand(path.read_text(encoding="utf-8"), context)
        try:
            yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise SubstitutionFailure(f"'{path}' is no valid YAML once its substitutions are made: {error}") from error
        return written(text)


def written(text: str) -> Path:
    """Keep parameters in a file for a node to read; the node's action removes it."""
    with tempfile.NamedTemporaryFile("w", prefix="launch_params_", suffix=".yaml", delete=False) as file:
        file.write(text)
    return Path(file.name)


def evaluate_parameters(
    context: LaunchContext, parameters: Mapping[Any, Any], prefix: str = ""
) -> dict[str, Evaluated]:
    """Work out a dictionary of parameters; nested names are joined by dots."""
    found: dict[str, Evaluated] = {}
    for key, value in parameters.items():
        name = prefix + perform(context, key)
        if isinstance(value, Mapping):
            found.update(evaluate_parameters(context, value, f"{name}."))
            continue
        try:
            found[name] = value.evaluate(context) if isinstance(value, ParameterValue) else _evaluated(context, value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"parameter '{name}': {error}. If it is meant to be text, write "
                "launch_ros.parameter_descriptions.ParameterValue(value, value_type=str)"
            ) from error
    return found


def _evaluated(context: LaunchContext, value: object) -> Evaluated:
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Substitution):
        return coerced(perform(context, value))
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise TypeError(f"a parameter can be a bool, int, float, str or a list of these, got {value!r}")
    if not value:
        raise TypeError("an empty list has no type")
    if any(isinstance(item, Substitution) for item in value):
        return coerced(perform(context, value))
    return uniform([_evaluated(context, item) for item in value])


def _is_plain_list(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, (bool, int, float, str)) for item in value)


def coerced(text: str, value_type: Any = None) -> Evaluated:  # noqa: ANN401 - a type such as list[int]
    """Read text as a parameter's value."""
    try:
        value: Evaluated = coerce(text, value_type)
    except yaml.YAMLError as error:
        raise ValueError(f"'{text}' is no valid YAML") from error
    return value
