"""Runs a policy on a robot without learning: a file, or the stable policy of a server; the arm waits to be enabled."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import LogInfo, OpaqueFunction
from launch.launch_description_entity import LaunchDescriptionEntity
from launch_ros.actions import Node

from ompo_ros.launching import endings, view
from ompo_ros.launching.arguments import declare, values_of
from ompo_ros.launching.nodes import (
    Values,
    arguments_of,
    chosen,
    chosen_target,
    in_namespace,
    include,
    lockstep,
    node,
    policy_server,
    robot_namespace,
    stay_on_this_machine,
)
from ompo_ros.run_id import new_run_id


def generate_launch_description() -> LaunchDescription:
    """Declare what the controller needs besides the stand-in; what starts is decided when the values are known."""
    return LaunchDescription(
        [
            *declare("policy", "registry_dir", "reward", "enabled", "dry_run", "speed_scale"),
            *declare(*view.ARGUMENTS, params_file=""),
            *arguments_of("robot_sim"),
            OpaqueFunction(function=start),
        ]
    )


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Start the controller, and what it needs of server and stand-in."""
    values = values_of(context)
    if values["policy"] and values["registry_dir"]:
        raise RuntimeError("policy:= runs one file, registry_dir:= follows a registry's stable policy: choose one.")
    values["target"] = chosen_target(values)
    if values["run_id"] == "auto":
        values["run_id"] = new_run_id() if values["policy"] or values["registry_dir"] else ""
    return [
        *(stay_on_this_machine() if values["target"] != "real" else []),
        LogInfo(msg=f"deploying {values['policy'] or 'the stable policy'} to {values['target']}"),
        include("robot_sim", values),
        in_namespace(values, nodes),
        *view.page(values),
    ]


def nodes(values: Values) -> list[Node]:
    """The controller, which nothing restarts, and a server where a registry is given."""
    parameters = {
        **chosen(values, "task", "reward", "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "policy": str(Path(values["policy"]).expanduser().resolve()) if values["policy"] else "",
        "enabled": values["enabled"] == "true",
        "dry_run": values["dry_run"] == "true",
        "speed_scale": float(values["speed_scale"]),
        "lockstep": lockstep(values),
    }
    ended = endings.required("the policy controller", "the policy controller ended")
    controller = node("policy_controller", values, parameters, on_exit=ended)
    if not values["registry_dir"]:
        return [controller]
    return [controller, policy_server(values, str(Path(values["registry_dir"]).expanduser().resolve()))]
