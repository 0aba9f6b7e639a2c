"""A simulated robot behind the topics of its driver; nothing where the robot is real."""

from launch import LaunchDescription
from launch_ros.actions import Node

from ompo_ros.launching import endings
from ompo_ros.launching.files import chosen_target
from ompo_ros.launching.nodes import Values, chosen, node, part, robot_namespace

ARGUMENTS = ("task", "target", "target_domain", "robot", "driver", "robot_namespace")


def generate_launch_description() -> LaunchDescription:
    """Start the stand-in, which nothing replaces."""
    return part(ARGUMENTS, start)


def start(values: Values) -> list[Node]:
    """All ends with the robot."""
    target = chosen_target(values)
    if target == "real":
        return []
    parameters = {
        **chosen(values, "task", "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "simulator": target,
        "domain": values["target_domain"],
        "real_time_factor": float(values["real_time_factor"]),
        "seed": int(values["seed"]),
    }
    return [node("robot_sim", values, parameters, on_exit=endings.required("the stand-in robot"))]
