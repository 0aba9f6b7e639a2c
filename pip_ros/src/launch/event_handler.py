"""The base of event handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .event import Event
from .launch_description_entity import LaunchDescriptionEntity, SomeEntitiesType, listed

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class BaseEventHandler:
    """Picks events; what it does about them is for its subclasses to say."""

    def __init__(self, *, matcher: Callable[[Event], bool], handle_once: bool = False) -> None:
        self._matcher = matcher
        self._handle_once = handle_once

    @property
    def handle_once(self) -> bool:
        return self._handle_once

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        """Entities known beforehand, for tools that list launch arguments."""
        return []

    def matches(self, event: Event) -> bool:
        return self._matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Deal with an event; subclasses call this first."""
        context.extend_locals({"event": event})
        if self._handle_once:
            context.unregister_event_handler(self)
        return None


class EventHandler(BaseEventHandler):
    """Yields the same entities for each event that it picks."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        entities: SomeEntitiesType | None = None,
        handle_once: bool = False,
    ) -> None:
        super().__init__(matcher=matcher, handle_once=handle_once)
        self._entities = listed(entities)

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        return self._entities

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        super().handle(event, context)
        return self._entities
