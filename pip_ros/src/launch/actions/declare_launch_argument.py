"""Arguments of a launch file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..substitution import SomeSubstitutionsType, Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class DeclareLaunchArgument(Action):
    """Makes a launch configuration an argument, which the user or the including file may set."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: list[str] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if choices is not None and not choices:
            raise RuntimeError(f"argument '{name}' has an empty list of choices; leave it out to allow all")
        if choices is not None and isinstance(default_value, str) and default_value not in choices:
            raise RuntimeError(f"default value '{default_value}' of argument '{name}' is not one of {choices}")
        self._name = name
        self._default = None if default_value is None else normalize_to_list_of_substitutions(default_value)
        self._description = _described(description, choices)
        self._choices = choices
        self.conditionally_included = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def default_value(self) -> list[Substitution] | None:
        return self._default

    @property
    def description(self) -> str:
        return self._description

    @property
    def choices(self) -> list[str] | None:
        return self._choices

    def execute(self, context: LaunchContext) -> None:
        if self._name not in context.launch_configurations:
            if self._default is None:
                raise RuntimeError(
                    f'Required launch argument "{self._name}" ({self._description}) was not provided; '
                    f"give {self._name}:=<value>"
                )
            context.launch_configurations[self._name] = perform_substitutions(context, self._default)
        value = context.launch_configurations[self._name]
        if self._choices is not None and value not in self._choices:
            raise RuntimeError(
                f'Argument "{self._name}" provided value "{value}" is not valid. Valid options are: {self._choices}'
            )


def _described(description: str | None, choices: list[str] | None) -> str:
    if choices is None:
        return description or "no description given"
    if description is None:
        return f"One of: {choices}"
    return f"{description.rstrip('.')}. Valid choices are: {choices}"
