"""Actions that come later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..event_handler import EventHandler
from ..event_handlers import OnShutdown
from ..events import TimerEvent
from ..launch_description_entity import LaunchDescriptionEntity
from ..substitution import SomeSubstitutionsType
from ..utilities import perform_typed
from .opaque_function import OpaqueFunction

if TYPE_CHECKING:
    from ..event import Event
    from ..launch_context import LaunchContext


class TimerAction(Action):
    """Visits actions once, after a period; not if it was cancelled or the launch has ended before."""

    def __init__(
        self,
        *,
        period: float | SomeSubstitutionsType,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool | SomeSubstitutionsType = True,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._period = period
        self._actions = list(actions)
        self._cancel_on_shutdown = cancel_on_shutdown
        self._cancelled = False
        self._task: asyncio.Task[None] | None = None

    @property
    def actions(self) -> list[LaunchDescriptionEntity]:
        return self._actions

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        return [(f"after {self._period} seconds", self._actions)]

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        return self._task

    def cancel(self) -> None:
        """Keep the actions from being visited, if it is not too late."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    def execute(self, context: LaunchContext) -> None:
        if self._cancelled:
            return
        fire = EventHandler(
            matcher=lambda event: isinstance(event, TimerEvent) and event.timer_action is self,
            entities=[OpaqueFunction(function=_restore, args=[context.get_locals_as_dict()]), *self._actions],
            handle_once=True,
        )
        context.register_event_handler(fire)
        if perform_typed(context, self._cancel_on_shutdown, bool):
            context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        period = perform_typed(context, self._period, float)
        self._task = context.asyncio_loop.create_task(self._wait(period, context))

    async def _wait(self, period: float, context: LaunchContext) -> None:
        await asyncio.sleep(period)
        context.emit_event_sync(TimerEvent(timer_action=self))

    def _on_shutdown(self, _event: Event, _context: LaunchContext) -> None:
        self.cancel()


def _restore(context: LaunchContext, names: dict[str, object]) -> None:
    context.extend_locals(names)
