"""Event handlers for what launch files react to."""

from collections.abc import Callable
from typing import Any

from .events import Shutdown
from .events.process import ProcessExited, ProcessIO, RunningProcessEvent
from .launch_context import Event, LaunchContext
from .launch_description_entity import Action, LaunchDescriptionEntity, SomeEntitiesType, listed

Reaction = SomeEntitiesType | Callable[[Any, LaunchContext], SomeEntitiesType | None]
ActionMatcher = Action | Callable[[Any], bool]


class EventHandler:
    """Yields entities, or what a function makes of the event, for each event that it picks."""

    def __init__(self, *, matcher: Callable[[Event], bool], entities: Reaction | None = None) -> None:
        self.matches = matcher
        self._function = entities if callable(entities) else None
        self.entities: list[LaunchDescriptionEntity] = [] if callable(entities) else listed(entities)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        context.extend_locals({"event": event})
        return self.entities if self._function is None else self._function(event, context)


def _is_of(target: ActionMatcher | None, event: RunningProcessEvent) -> bool:
    """Pick an event of one action, of those a function picks, or of all."""
    return event.action is target if isinstance(target, Action) else target is None or target(event.action)


class OnProcessExit(EventHandler):
    """Reacts to the end of a process."""

    def __init__(self, *, target_action: ActionMatcher | None = None, on_exit: Reaction) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, ProcessExited) and _is_of(target_action, event), entities=on_exit
        )


class OnProcessIO(EventHandler):
    """Reacts to what a process writes."""

    def __init__(
        self,
        *,
        target_action: ActionMatcher | None = None,
        on_stdout: Callable[[ProcessIO], SomeEntitiesType | None] | None = None,
        on_stderr: Callable[[ProcessIO], SomeEntitiesType | None] | None = None,
    ) -> None:
        def react(event: ProcessIO, _: LaunchContext) -> SomeEntitiesType | None:
            reaction = on_stdout if event.from_stdout else on_stderr
            return None if reaction is None else reaction(event)

        super().__init__(
            matcher=lambda event: isinstance(event, ProcessIO) and _is_of(target_action, event), entities=react
        )


class OnShutdown(EventHandler):
    """Reacts to the end of the launch, before its processes are stopped."""

    def __init__(self, *, on_shutdown: Reaction) -> None:
        super().__init__(matcher=lambda event: isinstance(event, Shutdown), entities=on_shutdown)
