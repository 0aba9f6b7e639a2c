"""What the end of a node means for its launch: go on, end well, or end with exit code 1 and the cause."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Final
from weakref import WeakSet

from launch import LaunchContext
from launch.actions import LogInfo, Shutdown
from launch.events.process import ProcessExited, ProcessIO
from launch.launch_description_entity import LaunchDescriptionEntity

from ompo_ros.launching import screen
from ompo_ros.to_launch import OVER, PROGRESS, REFUSED

Handler = Callable[[ProcessExited, LaunchContext], list[LaunchDescriptionEntity]]
_FATAL: Final = re.compile(r"\[FATAL\] \[[\d.]+\] \[[^]]*\]: (.+)")

# What processes said, by their names; a launch has one of each name.
_unfinished: defaultdict[tuple[str, bool], str] = defaultdict(str)
_causes: dict[str, str] = {}
_over: set[str] = set()
_ending: WeakSet[LaunchContext] = WeakSet()  # launches whose Shutdown may still wait in their queue


class LaunchFailed(RuntimeError):
    """Why a launch cannot go on. Raised, because after a Shutdown `ros2 launch` returns 0."""


def hear(event: ProcessIO) -> None:
    """Note why a node cannot work or that its run is over, and show its progress; text comes in pieces."""
    stream = (event.process_name, event.from_stdout)
    *lines, _unfinished[stream] = (_unfinished[stream] + event.text.decode(errors="replace")).split("\n")
    for line in lines:
        if fatal := _FATAL.match(line):
            _causes[event.process_name] = fatal[1]
        elif event.from_stdout and line == OVER:
            _over.add(event.process_name)
        elif event.from_stdout and line.startswith(PROGRESS):
            screen.draw(line.removeprefix(PROGRESS))


def replaced(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """A node that may die and is started again, whoever ended it, unless its run is over."""
    if _is_ending(context):
        return []
    _fail_if_refused(event)
    return _end("the run is over", context) if event.process_name in _over else []


def required(what: str, *, may_stop: bool = False) -> Handler:
    """A node that nothing replaces: all ends with it; well where its run is over, or where it may be stopped."""

    def ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if _is_ending(context):
            return []
        _fail_if_refused(event)
        if event.process_name in _over:
            return _end("the run is over", context)
        if may_stop and event.returncode == 0:
            return _end(f"{what} was stopped", context)
        _fail(lambda: ": ".join([f"{what} died", *_said(event)]))
        return []

    return ended


def _fail_if_refused(event: ProcessExited) -> None:
    if event.returncode == REFUSED:
        unknown = "refused its settings; its log says why"
        _fail(lambda: f"{_node(event)}: {_causes.get(event.process_name, unknown)}")


def _said(event: ProcessExited) -> list[str]:
    return [_causes[event.process_name]] if event.process_name in _causes else []


def _fail(cause: Callable[[], str]) -> None:
    """End the launch; the cause is said again below all that the end of the others brings."""
    screen.say_last(lambda: f"failed: {cause()}")
    raise LaunchFailed(cause())


def _node(event: ProcessExited) -> str:
    return event.process_name.rpartition("-")[0]


def _is_ending(context: LaunchContext) -> bool:
    """Nodes may end at the same moment; the first one decides what is said."""
    return context.is_shutdown or context in _ending


def _end(reason: str, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    _ending.add(context)
    return [LogInfo(msg=f"{screen.ENDING}{reason}"), Shutdown(reason=reason)]  # launch does not log the reason
