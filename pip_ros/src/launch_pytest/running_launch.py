"""A launch that runs while a test does."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
from launch import LaunchDescription, LaunchService
from launch.launch_description import known_entities

from .actions import ReadyToTest


class RunningLaunch:
    """A launch service with a loop of its own, which runs whenever the test waits or works."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self.service = LaunchService()
        self._task: asyncio.Task[int] | None = None

    def start(self, description: LaunchDescription) -> None:
        """Launch, and return when the description says that the test may begin."""
        ready = asyncio.Event()
        _ready_action(description).callback = ready.set
        self.service.include_launch_description(description)
        self._task = self._loop.create_task(self.service.run_async())
        waiting = self._loop.create_task(ready.wait())
        self._loop.run_until_complete(asyncio.wait([self._task, waiting], return_when=asyncio.FIRST_COMPLETED))
        waiting.cancel()
        if not ready.is_set():
            pytest.fail(f"the launch of fixture '{self._name}' ended before it was ready to test", pytrace=False)

    def shut_down(self) -> None:
        """End the launch, and return when all its processes have ended."""
        if self._task is None:
            return
        task, self._task = self._task, None
        self.service.shutdown()
        try:
            code = self._loop.run_until_complete(task)
        except BaseException:  # the test's timeout, say: the processes are killed
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                self._loop.run_until_complete(task)
            raise
        if code != 0:
            pytest.fail(f"the launch of fixture '{self._name}' failed with return code {code}", pytrace=False)

    def close(self) -> None:
        """End the launch and its loop."""
        try:
            self.shut_down()
        finally:
            self._loop.close()

    def run_in_thread(self, function: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the function gives
        """Run a function of the test beside the loop; one that hangs does not keep the interpreter from ending."""
        done = self._loop.create_future()

        def report(result: Any, error: BaseException | None) -> None:  # noqa: ANN401 - as above
            if not done.done():
                done.set_result((result, error))

        def work() -> None:
            result, error = None, None
            try:
                result = function()
            except BaseException as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(report, result, error)

        threading.Thread(target=work, name="launch_pytest", daemon=True).start()
        result, error = self._loop.run_until_complete(done)
        if error is not None:
            raise error
        return result


def _ready_action(description: LaunchDescription) -> ReadyToTest:
    """Find the one action that lets the test begin; add one at the end where there is none."""
    found = [entity for entity, _ in known_entities(description.entities) if isinstance(entity, ReadyToTest)]
    if len(found) > 1:
        raise RuntimeError("a launch fixture must return a launch description with only one ReadyToTest action")
    if not found:
        found = [ReadyToTest()]
        description.add_action(found[0])
    return found[0]
