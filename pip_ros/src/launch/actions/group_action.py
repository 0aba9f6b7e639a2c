"""Several actions as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..launch_description_entity import LaunchDescriptionEntity
from ..substitution import SomeSubstitutionsType
from ..utilities import perform
from .configuration import SetLaunchConfiguration
from .opaque_function import OpaqueFunction

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class GroupAction(Action):
    """Visits actions under one condition; when scoped, what they set is forgotten after them."""

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[str, SomeSubstitutionsType] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._actions = list(actions)
        self._scoped = scoped
        self._forwarding = forwarding
        self._configurations = dict(launch_configurations or {})

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return list(self._actions)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        configurations = {name: perform(context, value) for name, value in self._configurations.items()}
        inner: list[LaunchDescriptionEntity] = [
            *(SetLaunchConfiguration(name, value) for name, value in configurations.items()),
            *self._actions,
        ]
        if not self._scoped:
            return inner
        context.push_launch_configurations()
        context.push_environment()
        if not self._forwarding:
            context.launch_configurations.clear()
            context.reset_environment()
        return [*inner, OpaqueFunction(function=_leave_scope)]


def _leave_scope(context: LaunchContext) -> None:
    context.pop_environment()
    context.pop_launch_configurations()
