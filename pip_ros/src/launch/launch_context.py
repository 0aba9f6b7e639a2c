"""What the entities of one launch share."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import threading
from collections.abc import Iterator, MutableMapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .event_handlers import EventHandler


class Event:
    """Something that happened, or that is asked to happen."""


class LaunchContext:
    """The configurations, the event handlers, the queue of events and the locals of one launch."""

    def __init__(self) -> None:
        self.is_shutdown = False
        self.launch_configurations: dict[str, Any] = {}
        self.environment: MutableMapping[str, str] = os.environ
        self.event_handlers: collections.deque[EventHandler] = collections.deque()
        self.events: collections.deque[Event] = collections.deque()
        self._locals: dict[str, Any] = {}
        self._scopes: list[tuple[dict[str, Any], dict[str, str]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._news = asyncio.Event()

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise RuntimeError("the launch does not run")
        return self._loop

    @contextlib.contextmanager
    def running_in(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Tie the context to the loop of a running launch."""
        self._loop, self._thread, self._news = loop, threading.get_ident(), asyncio.Event()
        try:
            yield
        finally:
            self._loop = None
            self.is_shutdown = False

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event, from any thread."""
        self.events.append(event)
        self.notify()

    def notify(self) -> None:
        """Wake the running launch."""
        if self._loop is not None and threading.get_ident() == self._thread:
            self._news.set()
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._news.set)

    async def news(self) -> None:
        """Wait until there is an event, or a future has completed."""
        await self._news.wait()
        self._news.clear()

    def register_event_handler(self, event_handler: EventHandler, append: bool = False) -> None:
        """Let a handler see events, before all others unless it is appended."""
        if append:
            self.event_handlers.append(event_handler)
        else:
            self.event_handlers.appendleft(event_handler)

    def unregister_event_handler(self, event_handler: EventHandler) -> None:
        self.event_handlers.remove(event_handler)

    @property
    def locals(self) -> Any:  # noqa: ANN401 - its attributes are whatever the launch put there
        return SimpleNamespace(**self._locals)

    def extend_locals(self, extensions: dict[str, Any]) -> None:
        """Add locals until the event that is being handled is done with."""
        self._locals.update(extensions)

    @contextlib.contextmanager
    def local_scope(self) -> Iterator[None]:
        """Forget the locals that are added within."""
        saved = dict(self._locals)
        try:
            yield
        finally:
            self._locals = saved

    def push_scope(self) -> None:
        """Remember configurations and environment, for the end of a group."""
        self._scopes.append((dict(self.launch_configurations), dict(self.environment)))

    def pop_scope(self) -> None:
        self.launch_configurations, environment = self._scopes.pop()
        for name in set(self.environment) - set(environment):
            del self.environment[name]
        self.environment.update(environment)
