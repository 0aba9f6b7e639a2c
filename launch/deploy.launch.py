"""Runs a policy on a robot without learning: a file, or the stable policy of a server; the arm waits to be enabled."""

import importlib.util
import os
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    LogInfo,
    OpaqueFunction,
    SetEnvironmentVariable,
    Shutdown,
)
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.substitutions import FindPackageShare

from ompo_ros.run_id import new_run_id

SHARE = FindPackageShare("ompo_ros")
PROFILE = "FASTRTPS_DEFAULT_PROFILES_FILE"
ARGUMENTS = [
    ("policy", "", "ONNX file to run; empty: follow policy/stable of a policy server in the namespace.", None),
    ("registry_dir", "", "Start a policy server, gate on, on this folder (a run's `policies`); empty: none.", None),
    (
        "run_id",
        "auto",
        "Identity that server and controller share; auto: a new one, none to follow a server without one.",
        None,
    ),
    ("task", "reach", "What the policy was trained for.", ["reach", "push"]),
    ("reward", "dense", "How it was rewarded; tells the policies of one task apart.", ["dense", "sparse"]),
    (
        "target",
        "auto",
        "The robot: a stand-in, or real; auto is panda_gym where PyBullet is installed, else mujoco.",
        ["auto", "panda_gym", "mujoco", "real"],
    ),
    ("target_domain", "nominal", "Dynamics of the stand-in, a file of config/domains.", None),
    ("robot", "panda", "Robot preset, a file of config/robots: panda, fr3, or a path.", None),
    ("driver", "", "Which of the preset's drivers to speak to; empty: its default.", None),
    ("robot_namespace", "auto", "Where the robot's topics are; auto: / for real, else the nodes' own.", None),
    ("enabled", "false", "Move at once instead of waiting for policy_controller/set_enabled.", ["true", "false"]),
    ("dry_run", "false", "Do everything but command the robot.", ["true", "false"]),
    ("speed_scale", "1.0", "Share of the preset's velocity limits to use, up to 1.", None),
    ("namespace", "ompo", "Namespace of all nodes.", None),
    ("log_level", "info", "Of all nodes.", ["debug", "info", "warn", "error"]),
    ("use_sim_time", "auto", "Follow /clock; auto: when the stand-in is not in real time.", ["auto", "true", "false"]),
    ("real_time_factor", "1.0", "Speed of the stand-in; 0: as fast as possible, in lockstep.", None),
    ("seed", "0", "Of what is random in the stand-in.", None),
]


def generate_launch_description() -> LaunchDescription:
    """Declare every argument with its meaning; what they lead to is decided when their values are known."""
    declared = [
        DeclareLaunchArgument(
            name, default_value=default, description=text, **({"choices": choices} if choices else {})
        )
        for name, default, text, choices in ARGUMENTS
    ]
    profile = PathJoinSubstitution([SHARE, "config", "fastdds.xml"])
    return LaunchDescription(
        [
            *declared,
            SetEnvironmentVariable(PROFILE, profile),
            SetEnvironmentVariable("PYTHONUNBUFFERED", "1"),
            OpaqueFunction(function=start),
        ]
    )


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Start the controller, and what it needs of server and stand-in, in the namespace."""
    values = {name: LaunchConfiguration(name).perform(context) for name, *_ in ARGUMENTS}
    if values["policy"] and values["registry_dir"]:
        raise RuntimeError("policy:= runs one file, registry_dir:= follows a registry's stable policy: choose one.")
    if values["target"] == "auto":
        values["target"] = "panda_gym" if importlib.util.find_spec("pybullet") else "mujoco"
    if values["robot_namespace"] == "auto":
        values["robot_namespace"] = "/" if values["target"] == "real" else ""
    if values["run_id"] == "auto":
        values["run_id"] = new_run_id() if values["policy"] or values["registry_dir"] else ""
    nodes = [controller_node(values)]
    if values["target"] != "real":
        nodes.insert(0, stand_in_node(values))
    if values["registry_dir"]:
        nodes.append(server_node(values))
    what = values["policy"] or "the stable policy"
    return [
        *stay_on_this_machine(values),
        LogInfo(msg=f"deploying {what} to {values['target']}"),
        GroupAction([PushRosNamespace(values["namespace"]), *nodes]),
    ]


def stay_on_this_machine(values: dict[str, str]) -> list[LaunchDescriptionEntity]:
    """Keep a stand-in's commands off the network, unless the user chose a range."""
    if values["target"] == "real" or "ROS_AUTOMATIC_DISCOVERY_RANGE" in os.environ:
        return []
    return [SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]


def node(executable: str, values: dict[str, str], parameters: dict[str, object], **options: object) -> Node:
    """One of our nodes, with what all of them share."""
    if executable in ("policy_controller", "robot_sim"):
        options["additional_env"] = {PROFILE: PathJoinSubstitution([SHARE, "config", "fastdds_arm.xml"])}
    sim_time = values["use_sim_time"]
    follows_clock = float(values["real_time_factor"]) != 1.0 if sim_time == "auto" else sim_time == "true"
    run_id = {} if executable == "robot_sim" else {"run_id": values["run_id"]}
    common = {**run_id, "task": values["task"], "robot": values["robot"], "use_sim_time": follows_clock}
    return Node(
        package="ompo_ros",
        executable=executable,
        name=executable,
        parameters=[{**common, **parameters}],
        arguments=["--ros-args", "--log-level", values["log_level"]],
        output="screen",
        **options,
    )


def controller_node(values: dict[str, str]) -> Node:
    """What moves the arm is not restarted behind its user's back, the whole stops instead."""
    parameters = {
        "reward": values["reward"],
        "driver": values["driver"],
        "robot_namespace": values["robot_namespace"],
        "policy": str(Path(values["policy"]).expanduser().resolve()) if values["policy"] else "",
        "enabled": values["enabled"] == "true",
        "dry_run": values["dry_run"] == "true",
        "speed_scale": float(values["speed_scale"]),
        "lockstep": values["target"] != "real" and float(values["real_time_factor"]) == 0.0,
    }
    return node("policy_controller", values, parameters, on_exit=Shutdown(reason="the policy controller ended"))


def stand_in_node(values: dict[str, str]) -> Node:
    """A simulated robot behind the driver's topics."""
    parameters = {
        "driver": values["driver"],
        "robot_namespace": values["robot_namespace"],
        "simulator": values["target"],
        "domain": values["target_domain"],
        "real_time_factor": float(values["real_time_factor"]),
        "seed": int(values["seed"]),
    }
    return node("robot_sim", values, parameters, on_exit=Shutdown(reason="the stand-in robot died"))


def server_node(values: dict[str, str]) -> Node:
    """Offers the registry's stable policy, and moves it back when the arm's attempts fail; may die and comes back."""
    parameters = {
        "reward": values["reward"],
        "registry_dir": str(Path(values["registry_dir"]).expanduser().resolve()),
        "gate": True,
    }
    return node("policy_server", values, parameters, respawn=True, respawn_delay=1.0)
