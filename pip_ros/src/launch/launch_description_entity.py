"""The base of everything that a launch description may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something that is visited while a description is launched, and may yield more to visit."""

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return None

    def describe(self) -> str:
        return repr(self)

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Entities that a visit is sure to yield."""
        return []

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Entities that a visit, or an event, may yield; with the condition in words."""
        return []

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Give the future that completes when the work is done; the launch waits for it."""
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
