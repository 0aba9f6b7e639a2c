"""Event handlers for what launch files react to."""

from collections.abc import Callable
from typing import Any

from .events import Shutdown
from .events.process import ProcessExited, RunningProcessEvent
from .launch_context import Event, LaunchContext
from .launch_description_entity import Action, LaunchDescriptionEntity, SomeEntitiesType, listed

Reaction = SomeEntitiesType | Callable[[Any, LaunchContext], SomeEntitiesType | None]
ActionMatcher = Action | Callable[[Any], bool]


class EventHandler:
    """Yields entities, or what a function makes of the event, for each event that it picks."""

    def __init__(
        self, *, matcher: Callable[[Event], bool], entities: Reaction | None = None, handle_once: bool = False
    ) -> None:
        self.matches = matcher
        self._function = entities if callable(entities) else None
        self.entities: list[LaunchDescriptionEntity] = [] if callable(entities) else listed(entities)
        self._handle_once = handle_once

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        context.extend_locals({"event": event})
        if self._handle_once:
            context.unregister_event_handler(self)
        return self.entities if self._function is None else self._function(event, context)


def _matcher(kind: type[RunningProcessEvent], target: ActionMatcher | None) -> Callable[[Event], bool]:
    """Pick one kind of event of one action, of those a function picks, or of all."""
    if target is not None and not isinstance(target, Action) and not callable(target):
        raise TypeError(f"target_action must be an action or a function, got {target!r}")

    def matches(event: Event) -> bool:
        if not isinstance(event, kind):
            return False
        return event.action is target if isinstance(target, Action) else target is None or target(event.action)

    return matches


class OnProcessExit(EventHandler):
    """Reacts to the end of a process."""

    def __init__(
        self, *, target_action: ActionMatcher | None = None, on_exit: Reaction, handle_once: bool = False
    ) -> None:
        super().__init__(matcher=_matcher(ProcessExited, target_action), entities=on_exit, handle_once=handle_once)


class OnShutdown(EventHandler):
    """Reacts to the end of the launch, before its processes are stopped."""

    def __init__(self, *, on_shutdown: Reaction, handle_once: bool = False) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, Shutdown), entities=on_shutdown, handle_once=handle_once
        )
