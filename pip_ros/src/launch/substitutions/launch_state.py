"""What the running launch knows: its configurations, its file, the locals of the event being handled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..substitution import SomeSubstitutionsType, Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LaunchConfiguration(Substitution):
    """The value of a launch argument or configuration."""

    def __init__(
        self, variable_name: SomeSubstitutionsType, *, default: SomeSubstitutionsType | bool | int | float | None = None
    ) -> None:
        self._name = normalize_to_list_of_substitutions(variable_name)
        if isinstance(default, (bool, int, float)):
            default = str(default)
        self._default = None if default is None else normalize_to_list_of_substitutions(default)

    @property
    def variable_name(self) -> list[Substitution]:
        return self._name

    def describe(self) -> str:
        return f"LaunchConfig({' + '.join(part.describe() for part in self._name)})"

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self._name)
        if name in context.launch_configurations:
            return str(context.launch_configurations[name])
        if self._default is None:
            known = ", ".join(sorted(context.launch_configurations)) or "none"
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist (known: {known})")
        return perform_substitutions(context, self._default)


class LocalSubstitution(Substitution):
    """An expression over the locals, such as `event.reason` in a shutdown handler."""

    def __init__(self, expression: str, description: str | None = None) -> None:
        self._expression = expression
        self._description = description

    @property
    def expression(self) -> str:
        return self._expression

    def describe(self) -> str:
        return f"LocalVar('{self._description or self._expression}')"

    def perform(self, context: LaunchContext) -> str:
        value: object = context.locals
        for name in self._expression.split("."):
            value = getattr(value, name)
        return str(value)


class ThisLaunchFile(Substitution):
    """The path of the launch file being read."""

    def describe(self) -> str:
        return "ThisLaunchFile()"

    def perform(self, context: LaunchContext) -> str:
        return _launch_file(context, "current_launch_file_path")


class ThisLaunchFileDir(Substitution):
    """The folder of the launch file being read."""

    def describe(self) -> str:
        return "ThisLaunchFileDir()"

    def perform(self, context: LaunchContext) -> str:
        return _launch_file(context, "current_launch_file_directory")


def _launch_file(context: LaunchContext, name: str) -> str:
    if name not in context.get_locals_as_dict():
        raise SubstitutionFailure("ThisLaunchFile and ThisLaunchFileDir have a value only inside a launch file")
    return str(context.get_locals_as_dict()[name])
