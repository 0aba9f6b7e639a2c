"""Waiting for the start, the output and the end of a process; `_sync` in plain tests, the others in coroutines."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from launch import EventHandler, LaunchContext
from launch.actions import ExecuteProcess
from launch.events.process import RunningProcessEvent

Check = Callable[[], bool]
Validate = Callable[[str], object]


@contextlib.contextmanager
def _on_events(context: LaunchContext, action: ExecuteProcess, notice: Callable[[], None]) -> Iterator[None]:
    """Call `notice` after each event of the process."""

    def matches(event: object) -> bool:
        if isinstance(event, RunningProcessEvent) and event.action is action:
            notice()
        return False

    handler = EventHandler(matcher=matches)
    context.register_event_handler(handler, append=True)
    try:
        yield
    finally:
        context.unregister_event_handler(handler)


async def _wait(context: LaunchContext, action: ExecuteProcess, check: Check, timeout: float | None) -> bool:
    changed = asyncio.Event()

    async def until_checked() -> None:
        while not check():
            await changed.wait()
            changed.clear()

    with _on_events(context, action, changed.set):
        try:
            await asyncio.wait_for(until_checked(), timeout)
        except (asyncio.TimeoutError, TimeoutError):
            return check()
    return True


def _wait_sync(context: LaunchContext, action: ExecuteProcess, check: Check, timeout: float | None) -> bool:
    changed = threading.Event()
    end = None if timeout is None else time.monotonic() + timeout
    with _on_events(context, action, changed.set):
        while not check():
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return False
            changed.wait(left)
            changed.clear()
    return True


def _valid(validate: Validate, read: Callable[[], str]) -> Check:
    def check() -> bool:
        try:
            validate(read())
        except AssertionError:
            return False
        return True

    return check


async def wait_for_output(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Tell whether the standard output becomes what the function finds true."""
    read = execute_process_action.get_stdout
    return await _wait(launch_context, execute_process_action, lambda: bool(validate_output(read())), timeout)


def wait_for_output_sync(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Tell whether the standard output becomes what the function finds true."""
    read = execute_process_action.get_stdout
    return _wait_sync(launch_context, execute_process_action, lambda: bool(validate_output(read())), timeout)


async def wait_for_stderr(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Tell whether the standard error becomes what the function finds true."""
    read = execute_process_action.get_stderr
    return await _wait(launch_context, execute_process_action, lambda: bool(validate_output(read())), timeout)


def wait_for_stderr_sync(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Tell whether the standard error becomes what the function finds true."""
    read = execute_process_action.get_stderr
    return _wait_sync(launch_context, execute_process_action, lambda: bool(validate_output(read())), timeout)


async def assert_output(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> None:
    """Wait until the function's assertions about the standard output hold; raise what still fails in the end."""
    read = execute_process_action.get_stdout
    if not await _wait(launch_context, execute_process_action, _valid(validate_output, read), timeout):
        validate_output(read())


def assert_output_sync(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> None:
    """Wait until the function's assertions about the standard output hold; raise what still fails in the end."""
    read = execute_process_action.get_stdout
    if not _wait_sync(launch_context, execute_process_action, _valid(validate_output, read), timeout):
        validate_output(read())


async def assert_stderr(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> None:
    """Wait until the function's assertions about the standard error hold; raise what still fails in the end."""
    read = execute_process_action.get_stderr
    if not await _wait(launch_context, execute_process_action, _valid(validate_output, read), timeout):
        validate_output(read())


def assert_stderr_sync(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> None:
    """Wait until the function's assertions about the standard error hold; raise what still fails in the end."""
    read = execute_process_action.get_stderr
    if not _wait_sync(launch_context, execute_process_action, _valid(validate_output, read), timeout):
        validate_output(read())


def _has_started(action: ExecuteProcess) -> bool:
    return bool((action.process_details or {}).get("pid"))


def _has_exited(action: ExecuteProcess) -> bool:
    return action.return_code is not None


async def wait_for_start(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Tell whether the process starts in time, or has started already."""
    return await _wait(launch_context, execute_process_action, lambda: _has_started(execute_process_action), timeout)


def wait_for_start_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Tell whether the process starts in time, or has started already."""
    return _wait_sync(launch_context, execute_process_action, lambda: _has_started(execute_process_action), timeout)


async def wait_for_exit(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Tell whether the process ends in time, or has ended already."""
    return await _wait(launch_context, execute_process_action, lambda: _has_exited(execute_process_action), timeout)


def wait_for_exit_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Tell whether the process ends in time, or has ended already."""
    return _wait_sync(launch_context, execute_process_action, lambda: _has_exited(execute_process_action), timeout)
