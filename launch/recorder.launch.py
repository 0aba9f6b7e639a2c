"""The recorder of a run, on the learner's machine: the folder of the run is there, and no control loop."""

from launch import LaunchDescription
from launch_ros.actions import Node

from ompo_ros.launching.nodes import REPLACED, Values, chosen, node, part, robot_namespace
from ompo_ros.launching.run_start import folder_of

ARGUMENTS = ("record", "task", "reward", "target", "robot", "driver", "robot_namespace", "run_dir")


def generate_launch_description() -> LaunchDescription:
    """Start the recorder; one that dies is replaced and begins a new file."""
    return part(ARGUMENTS, start)


def start(values: Values) -> list[Node]:
    """Nothing, where the run is not recorded."""
    if values["record"] != "true":
        return []
    parameters = {
        **chosen(values, "task", "reward", "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "run_dir": str(folder_of(values)),
    }
    return [node("recorder", values, parameters, **REPLACED)]
