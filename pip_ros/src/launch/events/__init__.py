"""Events of the launch itself; those of its processes are in `launch.events.process`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..launch_context import Event
from . import process

if TYPE_CHECKING:
    from ..launch_description import LaunchDescription

__all__ = ["IncludeLaunchDescription", "Shutdown", "process"]


class Shutdown(Event):
    """The launch is to end."""

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False) -> None:
        self.reason = reason
        self.due_to_sigint = due_to_sigint


class IncludeLaunchDescription(Event):
    """A launch description is to be visited."""

    def __init__(self, launch_description: LaunchDescription) -> None:
        self.launch_description = launch_description
