"""Events of the launch itself; those of its processes are in `launch.events.process`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..event import Event
from . import process

if TYPE_CHECKING:
    from ..action import Action
    from ..actions.timer_action import TimerAction
    from ..launch_description import LaunchDescription

__all__ = ["IncludeLaunchDescription", "Shutdown", "TimerEvent", "matches_action", "process"]


class Shutdown(Event):
    """The launch is to end."""

    name = "launch.events.Shutdown"

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False) -> None:
        self.reason = reason
        self.due_to_sigint = due_to_sigint


class IncludeLaunchDescription(Event):
    """A launch description is to be visited."""

    name = "launch.events.IncludeLaunchDescription"

    def __init__(self, launch_description: LaunchDescription) -> None:
        self.launch_description = launch_description


class TimerEvent(Event):
    """The time of a TimerAction has come."""

    name = "launch.events.TimerEvent"

    def __init__(self, *, timer_action: TimerAction) -> None:
        self.timer_action = timer_action


def matches_action(target_action: Action) -> Callable[[Action], bool]:
    """Matcher of one action, for events that are sent to processes."""
    return lambda action: action is target_action
