"""Launch configurations: named texts that substitutions read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..substitution import SomeSubstitutionsType
from ..utilities import perform

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class SetLaunchConfiguration(Action):
    """Sets a launch configuration."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._name = name
        self._value = value

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations[perform(context, self._name)] = perform(context, self._value)


class UnsetLaunchConfiguration(Action):
    """Removes a launch configuration, if it is set."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._name = name

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations.pop(perform(context, self._name), None)
