"""The loop that visits launch descriptions, handles events and waits for processes."""

import asyncio
import contextlib
import signal
import threading
import traceback
from collections.abc import Iterator

from . import logging
from .event_handlers import EventHandler, OnShutdown
from .events import IncludeLaunchDescription, Shutdown
from .launch_context import Event, LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity, listed

TERMINATIONS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


class LaunchService:
    """Launches descriptions, and stops all that it started before it returns."""

    def __init__(self, *, debug: bool = False) -> None:
        logging.Logger.debugging = debug
        self._logger = logging.get_logger("launch")
        self.context = LaunchContext()
        self.context.register_event_handler(
            EventHandler(
                matcher=lambda event: isinstance(event, IncludeLaunchDescription),
                entities=lambda event, _: event.launch_description,
            )
        )
        self.context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        self._futures: set[asyncio.Future[None]] = set()
        self._return_code = 0
        self._running = False

    def emit_event(self, event: Event) -> None:
        """Queue an event, from any thread, also before the launch runs."""
        self.context.emit_event_sync(event)

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Queue a description for being visited."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def run(self) -> int:
        """Launch, until all is done: 0, or 1 where something raised an exception."""
        return asyncio.run(self.run_async())

    async def run_async(self) -> int:
        """Launch, within a loop that runs already; only in the main thread, for the sake of signals."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("a LaunchService can only be run in the main thread")
        loop = asyncio.get_running_loop()
        self._return_code = 0
        with self.context.running_in(loop), self._handled_signals(loop):
            self._logger.info(f"All log files can be found below {logging.log_dir()}")
            self._running = True
            try:
                await self._work()
            finally:
                self._running = False
                for future in self._futures:
                    future.cancel()
                await asyncio.gather(*self._futures, return_exceptions=True)
        return self._return_code

    def shutdown(self) -> None:
        """Stop the launch if it runs, from any thread."""
        if self._running:
            self._shut_down("LaunchService.shutdown() called")

    async def _work(self) -> None:
        while True:
            await self._handle_events()
            self._take_results()
            if self.context.events:
                continue
            if self._futures:
                await self.context.news()
            elif self.context.is_shutdown:
                return
            else:
                self._shut_down("idle")

    async def _handle_events(self) -> None:
        while self.context.events:
            event = self.context.events.popleft()
            self._logger.debug(f"processing event: {type(event).__name__}")
            for handler in tuple(self.context.event_handlers):
                self._offer(event, handler)
            await asyncio.sleep(0)

    def _offer(self, event: Event, handler: EventHandler) -> None:
        """Let one handler deal with an event; its mistakes keep no other handler from doing so."""
        try:
            if handler.matches(event):
                with self.context.local_scope():
                    for entity in listed(handler.handle(event, self.context)):
                        self._visit(entity)
        except Exception as error:
            self._fail(error)

    def _visit(self, entity: LaunchDescriptionEntity) -> None:
        sub_entities = entity.visit(self.context)
        future = entity.get_asyncio_future()
        if future is not None and future not in self._futures:
            self._futures.add(future)
            future.add_done_callback(lambda _: self.context.notify())
        for sub_entity in sub_entities or []:
            self._visit(sub_entity)

    def _take_results(self) -> None:
        for future in [future for future in self._futures if future.done()]:
            self._futures.discard(future)
            error = None if future.cancelled() else future.exception()
            if isinstance(error, Exception):
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._logger.debug("".join(traceback.format_exception(error)))
        message = f"Caught exception in launch (see debug for traceback): {error}"
        self._logger.error(message)
        self._return_code = 1
        self._shut_down(message)

    def _shut_down(self, reason: str, *, due_to_sigint: bool = False) -> None:
        if not self.context.is_shutdown:
            self.context.is_shutdown = True
            self.emit_event(Shutdown(reason=reason, due_to_sigint=due_to_sigint))

    def _on_shutdown(self, _event: Event, context: LaunchContext) -> None:
        context.is_shutdown = True

    def _on_interrupt(self) -> None:
        again = " again, ignoring..." if self.context.is_shutdown else ""
        self._logger.warning(f"user interrupted with ctrl-c (SIGINT){again}")
        self._shut_down("ctrl-c (SIGINT)", due_to_sigint=True)

    def _on_termination(self, number: signal.Signals) -> None:
        """Genuine launch leaves its processes behind here; it also returns 1."""
        self._logger.error(f"received {number.name}, terminating...")
        self._return_code = 1
        self._shut_down(number.name)

    @contextlib.contextmanager
    def _handled_signals(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        previous = {number: signal.getsignal(number) for number in (signal.SIGINT, *TERMINATIONS)}
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        for number in TERMINATIONS:
            loop.add_signal_handler(number, self._on_termination, number)
        try:
            yield
        finally:
            for number, handler in previous.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)
