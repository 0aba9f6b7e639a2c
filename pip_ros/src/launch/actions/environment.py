"""The environment of the launch, which its processes inherit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..substitution import SomeSubstitutionsType
from ..utilities import perform

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class SetEnvironmentVariable(Action):
    """Sets an environment variable."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._name = name
        self._value = value

    def execute(self, context: LaunchContext) -> None:
        context.environment[perform(context, self._name)] = perform(context, self._value)


class AppendEnvironmentVariable(Action):
    """Adds to a list in an environment variable, such as a search path."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        *,
        prepend: bool = False,
        separator: SomeSubstitutionsType = os.pathsep,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._name = name
        self._value = value
        self._prepend = prepend
        self._separator = separator

    def execute(self, context: LaunchContext) -> None:
        name, value = perform(context, self._name), perform(context, self._value)
        present = [context.environment[name]] if name in context.environment else []
        parts = [value, *present] if self._prepend else [*present, value]
        context.environment[name] = perform(context, self._separator).join(parts)


class UnsetEnvironmentVariable(Action):
    """Removes an environment variable, if it is set."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._name = name

    def execute(self, context: LaunchContext) -> None:
        context.environment.pop(perform(context, self._name), None)
