"""Events made by the launch file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import events
from ..action import Action
from ..condition import Condition
from ..event import Event
from ..substitution import SomeSubstitutionsType
from ..utilities import perform

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class EmitEvent(Action):
    """Queues an event."""

    def __init__(self, *, event: Event, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._event = event

    @property
    def event(self) -> Event:
        return self._event

    def execute(self, context: LaunchContext) -> None:
        context.emit_event_sync(self._event)


class Shutdown(EmitEvent):
    """Ends the launch."""

    def __init__(
        self, *, reason: SomeSubstitutionsType = "reason not given", condition: Condition | None = None
    ) -> None:
        super().__init__(event=events.Shutdown(), condition=condition)
        self._reason = reason

    def execute(self, context: LaunchContext) -> None:
        self._event = events.Shutdown(reason=perform(context, self._reason))
        super().execute(context)
