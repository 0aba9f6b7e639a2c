"""The base of everything that a launch description may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from .conditions import IfCondition
from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something that is visited while a description is launched, and may yield more to visit."""

    is_conditional = False  # whether a visit may yield nothing, as `--show-args` marks

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return None

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Entities that a visit yields, as far as they are known beforehand."""
        return []

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Give the future that completes when the work is done; the launch waits for it."""
        return None


class Action(LaunchDescriptionEntity):
    """Something to do, if its condition holds when it is reached."""

    def __init__(self, *, condition: IfCondition | None = None) -> None:
        self.condition = condition
        self.is_conditional = condition is not None

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self.condition is not None and not self.condition.evaluate(context):
            return None
        return self.execute(context)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do it; give back entities to visit next, if any."""
        return None


SomeEntitiesType = LaunchDescriptionEntity | Iterable[LaunchDescriptionEntity]


def listed(entities: SomeEntitiesType | None) -> list[LaunchDescriptionEntity]:
    """Give one entity, several or none the form of a list."""
    if entities is None:
        return []
    found = [entities] if isinstance(entities, LaunchDescriptionEntity) else list(entities)
    for entity in found:
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f"expected a LaunchDescriptionEntity, got {entity!r}")
    return found
