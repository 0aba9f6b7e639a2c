"""Event handlers for what launch files react to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .action import Action
from .event import Event
from .event_handler import BaseEventHandler
from .events import Shutdown
from .events.process import ProcessExited, ProcessIO, ProcessStarted, RunningProcessEvent
from .launch_description_entity import LaunchDescriptionEntity, SomeEntitiesType, listed

if TYPE_CHECKING:
    from .launch_context import LaunchContext

__all__ = ["OnProcessExit", "OnProcessIO", "OnProcessStart", "OnShutdown"]

Reaction = SomeEntitiesType | Callable[[Any, "LaunchContext"], SomeEntitiesType | None]
ActionMatcher = Action | Callable[[Any], bool]


class _Reacting(BaseEventHandler):
    """Yields given entities, or those that a function makes of the event."""

    def __init__(self, *, matcher: Callable[[Event], bool], reaction: Reaction, handle_once: bool) -> None:
        super().__init__(matcher=matcher, handle_once=handle_once)
        self._function = reaction if callable(reaction) else None
        self._entities = [] if callable(reaction) else listed(reaction)

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        return self._entities

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        super().handle(event, context)
        return self._entities if self._function is None else self._function(event, context)


class _OnProcessEvent(_Reacting):
    """Reacts to one kind of process event, of one action, of those a function picks, or of all."""

    event_type: type[RunningProcessEvent]

    def __init__(self, target_action: ActionMatcher | None, reaction: Reaction, handle_once: bool) -> None:
        if target_action is not None and not isinstance(target_action, Action) and not callable(target_action):
            raise TypeError(f"target_action must be an action or a function, got {target_action!r}")

        def matches(event: Event) -> bool:
            if not isinstance(event, self.event_type):
                return False
            if isinstance(target_action, Action):
                return event.action is target_action
            return target_action is None or target_action(event.action)

        super().__init__(matcher=matches, reaction=reaction, handle_once=handle_once)


class OnProcessStart(_OnProcessEvent):
    """Reacts to the start of a process."""

    event_type = ProcessStarted

    def __init__(
        self, *, target_action: ActionMatcher | None = None, on_start: Reaction, handle_once: bool = False
    ) -> None:
        super().__init__(target_action, on_start, handle_once)


class OnProcessExit(_OnProcessEvent):
    """Reacts to the end of a process."""

    event_type = ProcessExited

    def __init__(
        self, *, target_action: ActionMatcher | None = None, on_exit: Reaction, handle_once: bool = False
    ) -> None:
        super().__init__(target_action, on_exit, handle_once)


OutputReaction = Callable[[ProcessIO], SomeEntitiesType | None]


class OnProcessIO(_OnProcessEvent):
    """Reacts to what a process writes."""

    event_type = ProcessIO

    def __init__(
        self,
        *,
        target_action: ActionMatcher | None = None,
        on_stdout: OutputReaction | None = None,
        on_stderr: OutputReaction | None = None,
        handle_once: bool = False,
    ) -> None:
        def react(event: ProcessIO, _: LaunchContext) -> SomeEntitiesType | None:
            function = on_stdout if event.from_stdout else on_stderr
            return None if function is None else function(event)

        super().__init__(target_action, react, handle_once)


class OnShutdown(_Reacting):
    """Reacts to the end of the launch, before its processes are stopped."""

    def __init__(self, *, on_shutdown: Reaction, handle_once: bool = False) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, Shutdown), reaction=on_shutdown, handle_once=handle_once
        )
