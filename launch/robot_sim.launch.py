"""The robot's topics: a simulated robot behind them, or an FR3 behind our driver; nothing where the robot is real."""

from launch import LaunchDescription
from launch_ros.actions import Node

from ompo_ros.launching import endings
from ompo_ros.launching.arguments import OVER_FCI
from ompo_ros.launching.files import chosen_target
from ompo_ros.launching.franka import franka_nodes
from ompo_ros.launching.nodes import Values, chosen, node, part, robot_namespace

ARGUMENTS = ("task", "target", "target_domain", "robot", "robot_ip", "driver", "robot_namespace")


def generate_launch_description() -> LaunchDescription:
    """Start the stand-in or the driver, which nothing replaces."""
    return part(ARGUMENTS, start)


def start(values: Values) -> list[Node]:
    """All ends with the robot."""
    target = chosen_target(values)
    if target == "real":
        return []
    if target in OVER_FCI:
        return franka_nodes(values)
    parameters = {
        **chosen(values, "task", "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "simulator": target,
        "domain": values["target_domain"],
        "real_time_factor": float(values["real_time_factor"]),
        "seed": int(values["seed"]),
    }
    return [node("robot_sim", values, parameters, on_exit=endings.required("the stand-in robot"))]
