"""Waiting, in a test, for the start, the output and the end of a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from launch import LaunchContext
from launch.actions import ExecuteProcess
from launch.event_handlers import EventHandler
from launch.events.process import RunningProcessEvent

Validate = Callable[[str], object]


def _wait(context: LaunchContext, action: ExecuteProcess, check: Callable[[], bool], timeout: float | None) -> bool:
    """Check now and after each event of the process; what happened before counts too."""
    changed = threading.Event()

    def notice(event: object) -> bool:
        if isinstance(event, RunningProcessEvent) and event.action is action:
            changed.set()
        return False

    handler = EventHandler(matcher=notice)
    context.register_event_handler(handler, append=True)
    end = None if timeout is None else time.monotonic() + timeout
    try:
        while not check():
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return False
            changed.wait(left)
            changed.clear()
        return True
    finally:
        context.unregister_event_handler(handler)


def wait_for_stderr_sync(
    launch_context: LaunchContext,
    execute_process_action: ExecuteProcess,
    validate_output: Validate,
    timeout: float | None = None,
) -> bool:
    """Whether the standard error becomes what the function finds true."""
    read = execute_process_action.get_stderr
    return _wait(launch_context, execute_process_action, lambda: bool(validate_output(read())), timeout)


def wait_for_exit_sync(
    launch_context: LaunchContext, execute_process_action: ExecuteProcess, timeout: float | None = None
) -> bool:
    """Whether the process ends in time, or has ended already."""
    action = execute_process_action
    return _wait(launch_context, action, lambda: action.return_code is not None, timeout)
