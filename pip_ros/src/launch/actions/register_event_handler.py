"""Reactions to events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..event_handler import BaseEventHandler
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class RegisterEventHandler(Action):
    """Lets a handler see events from now on."""

    def __init__(self, event_handler: BaseEventHandler, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._event_handler = event_handler

    @property
    def event_handler(self) -> BaseEventHandler:
        return self._event_handler

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        return [("when the event occurs", self._event_handler.entities)]

    def execute(self, context: LaunchContext) -> None:
        context.register_event_handler(self._event_handler)


class UnregisterEventHandler(Action):
    """Lets a handler see no more events."""

    def __init__(self, event_handler: BaseEventHandler, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        context.unregister_event_handler(self._event_handler)
