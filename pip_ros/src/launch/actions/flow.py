"""Functions, messages, events and timers."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import events, logging
from ..conditions import IfCondition
from ..event_handlers import EventHandler
from ..launch_context import Event, LaunchContext
from ..launch_description_entity import Action, LaunchDescriptionEntity, SomeEntitiesType, listed
from ..substitution import SomeSubstitutionsType, perform


class OpaqueFunction(Action):
    """Calls a function with the context; what it returns is visited next."""

    def __init__(
        self,
        *,
        function: Callable[..., SomeEntitiesType | None],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        condition: IfCondition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._function = function
        self._args = tuple(args or ())
        self._kwargs = dict(kwargs or {})

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return listed(self._function(context, *self._args, **self._kwargs))


class LogInfo(Action):
    """Reports a message to the user."""

    def __init__(self, *, msg: SomeSubstitutionsType, condition: IfCondition | None = None) -> None:
        super().__init__(condition=condition)
        self._message = msg

    def execute(self, context: LaunchContext) -> None:
        logging.get_logger("launch.user").info(perform(context, self._message))


class EmitEvent(Action):
    """Queues an event."""

    def __init__(self, *, event: Event, condition: IfCondition | None = None) -> None:
        super().__init__(condition=condition)
        self._event = event

    def execute(self, context: LaunchContext) -> None:
        context.emit_event_sync(self._event)


class Shutdown(EmitEvent):
    """Ends the launch; its exit code stays what it was."""

    def __init__(self, *, reason: str = "reason not given", condition: IfCondition | None = None) -> None:
        super().__init__(event=events.Shutdown(reason=reason), condition=condition)

    def execute(self, context: LaunchContext) -> None:
        cause = getattr(context.locals, "event", None)
        if isinstance(cause, events.process.ProcessExited):
            message = f"process[{cause.process_name}] was required: shutting down launched system"
            logging.get_logger("launch").info(message)
        super().execute(context)


class RegisterEventHandler(Action):
    """Lets a handler see events from now on."""

    def __init__(self, event_handler: EventHandler, *, condition: IfCondition | None = None) -> None:
        super().__init__(condition=condition)
        self.is_conditional = True
        self._handler = event_handler

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self._handler.entities

    def execute(self, context: LaunchContext) -> None:
        context.register_event_handler(self._handler)
