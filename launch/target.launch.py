"""The target's side of a run: what moves the arm, and what leads the run to its report."""

import json

from launch import LaunchDescription
from launch_ros.actions import Node

from ompo_ros.launching import endings
from ompo_ros.launching.nodes import Values, chosen, lockstep, node, part, robot_namespace, without_people
from ompo_ros.launching.run_start import folder_of

ARGUMENTS = (
    "task",
    "reward",
    "target",
    "robot",
    "driver",
    "robot_namespace",
    "speed_scale",
    "target_steps",
    "run_dir",
)


def generate_launch_description() -> LaunchDescription:
    """Start both; nothing restarts an arm behind its user's back, so all ends with either."""
    return part(ARGUMENTS, start)


def start(values: Values) -> list[Node]:
    """The manager reports the arguments, and keeps those that a resumed run changes."""
    steps = {"target_steps": int(values["target_steps"])}
    collector = {
        **chosen(values, "task", "reward", "robot", "driver"),
        **steps,
        "robot_namespace": robot_namespace(values),
        "speed_scale": float(values["speed_scale"]),
        "lockstep": lockstep(values),
        "enabled": False,
        "seed": int(values["seed"]),
    }
    manager = {**steps, "run_dir": str(folder_of(values)), "settings": json.dumps(dict(values))}
    ended = endings.required("the target collector")
    return [
        node("target_collector", values, collector, defaults=without_people(values), on_exit=ended),
        node("run_manager", values, manager, stdout=(), on_exit=endings.required("the run manager")),
    ]
