"""Runs a policy on a robot without learning; the arm waits to be enabled, then goes to the goals on `goal`."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import LogInfo, OpaqueFunction
from launch.launch_description_entity import LaunchDescriptionEntity
from launch_ros.actions import Node

from ompo_ros.launching import endings, view
from ompo_ros.launching.arguments import checked, declare, values_of
from ompo_ros.launching.deployment import deployment_of
from ompo_ros.launching.files import check_arm, chosen_target
from ompo_ros.launching.franka import forces_to_set
from ompo_ros.launching.nodes import (
    Values,
    arguments_of,
    chosen,
    in_namespace,
    include,
    lockstep,
    node,
    policy_server,
    rehearse,
    robot_namespace,
    stay_on_this_machine,
    without_people,
)
from ompo_ros.run_id import new_run_id


def generate_launch_description() -> LaunchDescription:
    """Declare what the controller needs besides the stand-in; what starts is decided when the values are known."""
    own = declare(
        "policy", "registry_dir", "reward", "enabled", "dry_run", "speed_scale", *view.ARGUMENTS, params_file=""
    )
    return LaunchDescription([*checked(__file__, [*own, *arguments_of("robot_sim")]), OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Start the controller, and what it needs of server and stand-in."""
    values = values_of(context)
    check_arm({**values, "target": chosen_target(values)})
    deployment = deployment_of(values)
    values |= {"policy": deployment.policy, "registry_dir": deployment.registry_dir}
    values["target"] = chosen_target(values)
    if values["run_id"] == "auto":
        values["run_id"] = new_run_id() if deployment.runs_alone else ""
    rehearse([Path(__file__).with_name("robot_sim.launch.py")], values)
    waits = "" if values["enabled"] == "true" else "; `ompo enable` lets the arm move"
    return [
        *(stay_on_this_machine() if values["target"] != "real" else []),
        *(LogInfo(msg=line) for line in forces_to_set(values)),
        LogInfo(msg=f"deploying {deployment} to {values['target']}{waits}, `ompo goal X Y Z` sends it to a goal"),
        include("robot_sim", values),
        in_namespace(values, nodes),
        *view.page(values),
    ]


def nodes(values: Values) -> list[Node]:
    """The controller, which nothing restarts, and a server where a registry is given."""
    parameters = {
        **chosen(values, "task", "reward", "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "policy": values["policy"],
        "enabled": values["enabled"] == "true",
        "dry_run": values["dry_run"] == "true",
        "speed_scale": float(values["speed_scale"]),
        "lockstep": lockstep(values),
    }
    ended = endings.required("the policy controller", may_stop=True)
    controller = node("policy_controller", values, parameters, defaults=without_people(values), on_exit=ended)
    if not values["registry_dir"]:
        return [controller]
    return [controller, policy_server(values, values["registry_dir"])]
