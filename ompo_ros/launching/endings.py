"""What the end of a node means for its launch: go on, end well, or end with exit code 1."""

from __future__ import annotations

from collections.abc import Callable

from launch import LaunchContext
from launch.actions import LogInfo, Shutdown
from launch.events.process import ProcessExited
from launch.launch_description_entity import LaunchDescriptionEntity

REFUSED = 2  # exit code of a node that cannot work with its settings
Handler = Callable[[ProcessExited, LaunchContext], list[LaunchDescriptionEntity]]


class LaunchFailed(RuntimeError):
    """Why a launch cannot go on. Raised, because after a Shutdown `ros2 launch` returns 0."""


def replaced(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """A node that may die and is started again; it ends by itself only when its run is over."""
    if context.is_shutdown:
        return []
    _fail_if_refused(event)
    return _end(f"{event.process_name} ended") if event.returncode == 0 else []


def required(what: str, when_done: str = "") -> Handler:
    """A node that nothing replaces: all ends with it; well only where it may be done, and ended by itself."""

    def ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if context.is_shutdown:
            return []
        _fail_if_refused(event)
        if when_done and event.returncode == 0:
            return _end(when_done)
        raise LaunchFailed(f"{what} died")

    return ended


def _fail_if_refused(event: ProcessExited) -> None:
    if event.returncode == REFUSED:
        raise LaunchFailed(f"{event.process_name} refused its settings")


def _end(reason: str) -> list[LaunchDescriptionEntity]:
    return [LogInfo(msg=f"ending: {reason}"), Shutdown(reason=reason)]  # launch does not log the reason
