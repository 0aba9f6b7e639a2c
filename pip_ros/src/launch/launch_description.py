"""The root of what a launch file describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .launch_context import LaunchContext
from .launch_description_entity import Action, LaunchDescriptionEntity

if TYPE_CHECKING:
    from .actions import DeclareLaunchArgument


class LaunchDescription(LaunchDescriptionEntity):
    """Entities to be visited in order."""

    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] | None = None) -> None:
        self.entities = list(initial_entities or [])

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return self.entities

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self.entities

    def add_action(self, action: Action) -> None:
        self.entities.append(action)

    def get_launch_arguments(self) -> list[DeclareLaunchArgument]:
        """List the arguments that can be seen without launching; of several with one name, the first."""
        from .actions import DeclareLaunchArgument

        found: dict[str, DeclareLaunchArgument] = {}
        for entity, conditional in known_entities(self.entities):
            if isinstance(entity, DeclareLaunchArgument) and entity.name not in found:
                entity.conditionally_included = conditional
                found[entity.name] = entity
        return list(found.values())


def known_entities(
    entities: Iterable[LaunchDescriptionEntity], conditional: bool = False
) -> Iterator[tuple[LaunchDescriptionEntity, bool]]:
    """Walk through what is known before the launch; with each entity, whether it is reached only sometimes."""
    for entity in entities:
        sometimes = conditional or entity.is_conditional
        yield entity, sometimes
        yield from known_entities(entity.get_sub_entities(), sometimes)
