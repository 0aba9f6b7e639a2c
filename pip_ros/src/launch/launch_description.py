"""The root of what a launch file describes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .action import Action
    from .actions.declare_launch_argument import DeclareLaunchArgument
    from .launch_context import LaunchContext


class LaunchDescription(LaunchDescriptionEntity):
    """Entities to be visited in order."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] | None = None) -> None:
        self._entities = list(initial_entities or [])

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        return self._entities

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return self._entities

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self._entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        self._entities.append(entity)

    def add_action(self, action: Action) -> None:
        self.add_entity(action)

    def get_launch_arguments(self, conditional_inclusion: bool = False) -> list[DeclareLaunchArgument]:
        """List the arguments that can be seen without launching; of several with one name, the first."""
        found: dict[str, DeclareLaunchArgument] = {}
        _collect_arguments(self._entities, conditional_inclusion, found)
        return list(found.values())


def _collect_arguments(
    entities: Iterable[LaunchDescriptionEntity], conditional: bool, found: dict[str, DeclareLaunchArgument]
) -> None:
    from .actions.declare_launch_argument import DeclareLaunchArgument

    for entity in entities:
        if isinstance(entity, DeclareLaunchArgument) and entity.name not in found:
            entity.conditionally_included = conditional or entity.condition is not None
            found[entity.name] = entity
        _collect_arguments(entity.describe_sub_entities(), conditional, found)
        for _, some in entity.describe_conditional_sub_entities():
            _collect_arguments(some, True, found)
