"""A launch that runs while tests do."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import pytest
from launch import LaunchDescription, LaunchDescriptionEntity, LaunchService

from .actions import ReadyToTest
from .launch_fixture import LaunchFixture


class RunningLaunch:
    """A launch service with a loop of its own, which runs whenever a test waits or works."""

    def __init__(self, fixture: LaunchFixture) -> None:
        self.fixture = fixture
        self.loop = asyncio.new_event_loop()
        self.service = LaunchService()
        self.failure: str | None = None
        self._task: asyncio.Task[int] | None = None

    def start(self, description: LaunchDescription) -> None:
        """Launch, and return when the description says that tests may begin."""
        ready = asyncio.Event()
        _ready_action(description).add_callback(ready.set)
        self.service.include_launch_description(description)
        run = self.service.run_async(shutdown_when_idle=self.fixture.shutdown_when_idle)
        self._task = self.loop.create_task(run)
        self.loop.run_until_complete(_first_of(self._task, self.loop.create_task(ready.wait())))
        if not ready.is_set():
            self.failure = f"the launch of fixture '{self.fixture.name}' ended before it was ready to test"
            pytest.fail(self.failure, pytrace=False)

    def shut_down(self) -> None:
        """End the launch, and return when all its processes have ended."""
        if self._task is None or self.loop.is_closed():
            return
        if self.fixture.auto_shutdown:
            self.service.shutdown(force_sync=True)
        try:
            code = self.loop.run_until_complete(self._task)
        except BaseException:
            self._abort(self._task)
            raise
        if code != 0 and self.failure is None:
            self.failure = f"the launch of fixture '{self.fixture.name}' failed with return code {code}"
            pytest.fail(self.failure, pytrace=False)

    def close(self) -> None:
        """End the launch and its loop."""
        try:
            self.shut_down()
        finally:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the coroutine gives
        """Run a coroutine of a test."""
        return self.loop.run_until_complete(coroutine)

    def run_in_thread(self, function: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the function gives
        """Run a plain function of a test beside the loop; one that hangs does not keep the interpreter from ending."""
        outcome: dict[str, Any] = {}
        done = self.loop.create_future()

        def work() -> None:
            try:
                outcome["result"] = function()
            except BaseException as error:
                outcome["error"] = error
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(functools.partial(_complete, done))

        threading.Thread(target=work, name="launch_pytest", daemon=True).start()
        self.loop.run_until_complete(done)
        if "error" in outcome:
            raise outcome["error"]
        return outcome["result"]

    def _abort(self, task: asyncio.Task[int]) -> None:
        """Kill all processes of a launch that did not end in time."""
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            self.loop.run_until_complete(task)


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _first_of(task: asyncio.Task[int], ready: asyncio.Task[bool]) -> None:
    await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()


def _ready_action(description: LaunchDescription) -> ReadyToTest:
    """Find the one action that lets tests begin; add one at the end where there is none."""
    found = list(_ready_actions(description.entities))
    if len(found) > 1:
        raise RuntimeError("a launch fixture must return a launch description with only one ReadyToTest action")
    if not found:
        found = [ReadyToTest()]
        description.add_action(found[0])
    return found[0]


def _ready_actions(entities: Iterable[LaunchDescriptionEntity]) -> Iterable[ReadyToTest]:
    for entity in entities:
        if isinstance(entity, ReadyToTest):
            yield entity
        yield from _ready_actions(entity.describe_sub_entities())
        for _, some in entity.describe_conditional_sub_entities():
            yield from _ready_actions(some)
