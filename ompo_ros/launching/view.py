"""The page of a launch: whether it is shown, and the node that shows it; a launch goes on without it."""

from __future__ import annotations

import importlib.util
import sys

from launch import LaunchContext
from launch.actions import LogInfo
from launch.events.process import ProcessExited
from launch.launch_description_entity import LaunchDescriptionEntity

from ompo_ros.launching.arguments import SIMULATED
from ompo_ros.launching.nodes import Values, chosen, in_namespace, node, robot_namespace

ARGUMENTS = ("view", "view_host")
_PACKAGES = ("viser", "mjviser")
_INSTALL = f"pip install {' '.join(_PACKAGES)}, or the extra `view` of ompo_ros"


def page(values: Values) -> list[LaunchDescriptionEntity]:
    """The monitor, where it was asked for or a person is at the terminal; values of a run have target_steps."""
    if values["view"] == "false" or (values["view"] == "auto" and not _is_somebody_here(values)):
        return []
    if not all(map(importlib.util.find_spec, _PACKAGES)):
        if values["view"] == "true":
            raise RuntimeError(f"view:=true needs packages that are not installed: {_INSTALL}.")
        return [LogInfo(msg=f"no page in a browser: {_INSTALL}")]
    parameters = {
        **chosen(values, "task", "reward", "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "host": values["view_host"],
        "target_domain": values["target_domain"] if values["target"] in SIMULATED else "",
        "target_steps": int(values.get("target_steps", 0)),
    }
    # What it prints is its address, perhaps with a token: for the screen, not for a file.
    return [in_namespace(values, lambda _: [node("monitor", values, parameters, stdout=("screen",), on_exit=_ended)])]


def _is_somebody_here(values: Values) -> bool:
    """Whether somebody reads what we print, on the machine that knows the robot's topics."""
    return sys.stdout.isatty() and values.get("role", "all") in ("all", "target")


def _ended(_: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    return [] if context.is_shutdown else [LogInfo(msg="the page has ended; all else goes on")]
