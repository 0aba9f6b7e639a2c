"""What the entities of one launch share."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, MutableMapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from .event import Event
from .event_handler import BaseEventHandler
from .events import Shutdown
from .events.process import ProcessExited
from .substitution import Substitution

if TYPE_CHECKING:
    from .child_process import ChildProcess


class LaunchContext:
    """The configurations, the event handlers, the queue of events and the processes of one launch."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        self.argv = list(argv or [])
        self.noninteractive = noninteractive
        self.is_shutdown = False
        self.required_process_died = False
        self.launch_configurations: dict[str, Any] = {}
        self.children: set[ChildProcess] = set()
        self.futures: set[asyncio.Future[None]] = set()
        self.event_handlers: collections.deque[BaseEventHandler] = collections.deque()
        self._events: collections.deque[Event] = collections.deque()
        self._locals: dict[str, Any] = {}
        self._globals: dict[str, Any] = {}
        self._saved_configurations: list[dict[str, Any]] = []
        self._first_environment = dict(os.environ)
        self._saved_environments: list[dict[str, str]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._changed: asyncio.Event | None = None

    @property
    def environment(self) -> MutableMapping[str, str]:
        return os.environ

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise RuntimeError("the launch does not run")
        return self._loop

    @contextlib.contextmanager
    def running_in(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Tie the context to the loop of a running launch."""
        if self._loop is not None:
            raise RuntimeError("a LaunchService cannot be run twice at the same time")
        self._loop, self._thread, self._changed = loop, threading.get_ident(), asyncio.Event()
        try:
            yield
        finally:
            self._loop = self._thread = self._changed = None
            self.is_shutdown = False

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event; from any thread."""
        if isinstance(event, Shutdown) and not self.is_shutdown:
            cause = self._locals.get("event")
            self.required_process_died |= isinstance(cause, ProcessExited) and cause.returncode != 0
        self._events.append(event)
        self.notify()

    async def emit_event(self, event: Event) -> None:
        """Queue an event, in a coroutine."""
        self.emit_event_sync(event)

    def next_event(self) -> Event | None:
        return self._events.popleft() if self._events else None

    @property
    def idle(self) -> bool:
        return not self._events and not self.futures

    def add_completion_future(self, completion_future: asyncio.Future[None]) -> None:
        """Make the launch wait for a future before it ends by itself."""
        self.futures.add(completion_future)
        completion_future.add_done_callback(lambda _: self.notify())

    def notify(self) -> None:
        """Wake the running launch up."""
        if self._loop is None or self._changed is None:
            return
        if threading.get_ident() == self._thread:
            self._changed.set()
        else:
            self._loop.call_soon_threadsafe(self._changed.set)

    async def changed(self) -> None:
        """Wait for an event or the completion of a future."""
        if self._changed is None:
            raise RuntimeError("the launch does not run")
        await self._changed.wait()
        self._changed.clear()

    def register_event_handler(self, event_handler: BaseEventHandler, append: bool = False) -> None:
        """Let a handler see events, before all others unless it is appended."""
        if append:
            self.event_handlers.append(event_handler)
        else:
            self.event_handlers.appendleft(event_handler)

    def unregister_event_handler(self, event_handler: BaseEventHandler) -> None:
        self.event_handlers.remove(event_handler)

    def would_handle_event(self, event: Event) -> bool:
        return any(handler.matches(event) for handler in self.event_handlers)

    def perform_substitution(self, substitution: Substitution) -> str:
        return substitution.perform(self)

    @contextlib.contextmanager
    def local_scope(self) -> Iterator[None]:
        """Forget the locals that are added within."""
        saved = dict(self._locals)
        try:
            yield
        finally:
            self._locals = saved

    def extend_locals(self, extensions: dict[str, Any]) -> None:
        """Add locals until the event that is being handled is done with."""
        self._locals.update(extensions)

    def extend_globals(self, extensions: dict[str, Any]) -> None:
        """Add locals that stay."""
        self._globals.update(extensions)

    def get_locals_as_dict(self) -> dict[str, Any]:
        return {**self._globals, **self._locals}

    @property
    def locals(self) -> Any:  # noqa: ANN401 - its attributes are whatever the launch file put there
        return SimpleNamespace(**self.get_locals_as_dict())

    def push_launch_configurations(self) -> None:
        self._saved_configurations.append(dict(self.launch_configurations))

    def pop_launch_configurations(self) -> None:
        self.launch_configurations = self._saved_configurations.pop()

    def push_environment(self) -> None:
        self._saved_environments.append(dict(os.environ))

    def pop_environment(self) -> None:
        _replace_environment(self._saved_environments.pop())

    def reset_environment(self) -> None:
        """Go back to the environment that the launch began in."""
        _replace_environment(self._first_environment)


def _replace_environment(variables: dict[str, str]) -> None:
    for name in set(os.environ) - set(variables):
        del os.environ[name]
    os.environ.update(variables)
