"""The loop that visits launch descriptions, handles events and waits for processes."""

from __future__ import annotations

import asyncio
import contextlib
import logging as levels
import signal
import threading
import traceback
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from . import logging
from .event import Event
from .event_handler import BaseEventHandler, EventHandler
from .event_handlers import OnShutdown
from .events import IncludeLaunchDescription, Shutdown
from .events.process import SignalProcess
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity, listed

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


class LaunchService:
    """Launches descriptions, and stops all that it started before it returns."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False, debug: bool = False) -> None:
        logging.launch_config.level = levels.DEBUG if debug else levels.INFO
        self._logger = logging.get_logger("launch")
        self._debug = debug
        self._context = LaunchContext(argv=argv, noninteractive=noninteractive)
        self._context.register_event_handler(_including_handler())
        self._context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        self._shutting_down = False
        self._interruptions = 0
        self._return_code = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    @property
    def context(self) -> LaunchContext:
        return self._context

    @property
    def event_loop(self) -> asyncio.AbstractEventLoop | None:
        return self._loop

    @property
    def task(self) -> asyncio.Task[Any] | None:
        return self._task

    def emit_event(self, event: Event) -> None:
        """Queue an event, from any thread, also before the launch runs."""
        self._context.emit_event_sync(event)

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Queue a description for being visited."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Launch, until all is done; the code is non-zero if the launch itself went wrong."""
        return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle), debug=self._debug)

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Launch, within a loop that runs already; only in the main thread, for the sake of signals."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("a LaunchService can only be run in the main thread")
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._return_code = self._interruptions = 0
        self._shutting_down = False
        with self._context.running_in(self._loop), self._handled_signals(self._loop):
            self._logger.info(f"All log files can be found below {logging.launch_config.log_dir}")
            level = levels.getLevelName(logging.launch_config.level)
            self._logger.info(f"Default logging verbosity is set to {level}")
            try:
                await self._work(shutdown_when_idle)
            finally:
                self._kill_remaining()
                self._loop = None
        return self._return_code

    def shutdown(self, force_sync: bool = False) -> Coroutine[Any, Any, None] | None:
        """Stop the launch, from any thread; in the thread of the loop the answer is to be awaited, if not forced."""
        in_loop = self._task is not None and self._loop is not None and _running_loop() is self._loop
        if self._loop is not None:
            self._shut_down("LaunchService.shutdown() called")
        return _nothing() if in_loop and not force_sync else None

    async def _work(self, shutdown_when_idle: bool) -> None:
        while True:
            await self._handle_events()
            self._take_results()
            if self._context.idle and self._shutting_down:
                return
            if self._context.idle and shutdown_when_idle:
                self._shut_down("idle")
                continue
            await self._context.changed()

    async def _handle_events(self) -> None:
        while (event := self._context.next_event()) is not None:
            self._logger.debug(f"processing event: '{event.name}'")
            for handler in tuple(self._context.event_handlers):
                self._offer(event, handler)
            await asyncio.sleep(0)

    def _offer(self, event: Event, handler: BaseEventHandler) -> None:
        """Let one handler deal with an event; what goes wrong there keeps no other handler from doing so."""
        try:
            if handler.matches(event):
                with self._context.local_scope():
                    for entity in listed(handler.handle(event, self._context)):
                        self._visit(entity)
        except Exception as error:
            self._fail(error)

    def _take_results(self) -> None:
        for future in [future for future in self._context.futures if future.done()]:
            self._context.futures.discard(future)
            error = None if future.cancelled() else future.exception()
            if isinstance(error, Exception):
                self._fail(error)

    def _visit(self, entity: LaunchDescriptionEntity) -> None:
        for sub_entity in entity.visit(self._context) or []:
            self._visit(sub_entity)
        future = entity.get_asyncio_future()
        if future is not None:
            self._context.add_completion_future(future)

    def _fail(self, error: Exception) -> None:
        what = "".join(traceback.format_exception_only(type(error), error)).strip()
        message = f"Caught exception in launch (see debug for traceback): {what}"
        self._logger.debug("".join(traceback.format_exception(type(error), error, error.__traceback__)))
        self._logger.error(message)
        self._return_code = 1
        self._shut_down(message)

    def _shut_down(self, reason: str, *, due_to_sigint: bool = False) -> None:
        if not self._shutting_down:
            self._context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))
        self._shutting_down = self._context.is_shutdown = True
        self._context.notify()

    def _on_shutdown(self, _event: Event, context: LaunchContext) -> None:
        self._shutting_down = context.is_shutdown = True

    def _on_signal(self, number: signal.Signals) -> None:
        self._interruptions += 1
        what = "user interrupted with ctrl-c (SIGINT)" if number == signal.SIGINT else f"received {number.name}"
        if self._interruptions == 1:
            self._logger.warning(what)
            reason = "ctrl-c (SIGINT)" if number == signal.SIGINT else number.name
            self._shut_down(reason, due_to_sigint=number == signal.SIGINT)
            return
        escalation = signal.SIGTERM if self._interruptions == 2 else signal.SIGKILL
        self._logger.warning(f"{what} again, escalating to '{escalation.name}'")
        self._context.emit_event_sync(SignalProcess(signal_number=escalation, process_matcher=lambda _: True))

    @contextlib.contextmanager
    def _handled_signals(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        previous = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        try:
            yield
        finally:
            for number, handler in previous.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    def _kill_remaining(self) -> None:
        for child in self._context.children:
            child.send_signal(signal.SIGKILL)
        self._context.children.clear()


def _including_handler() -> EventHandler:
    from .actions.opaque_function import OpaqueFunction

    return EventHandler(
        matcher=lambda event: isinstance(event, IncludeLaunchDescription),
        entities=OpaqueFunction(function=lambda context: [context.locals.event.launch_description]),
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _nothing() -> None:
    return None
