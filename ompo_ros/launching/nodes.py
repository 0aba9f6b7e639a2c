"""One of our nodes, and a launch file that starts some, in the namespace, with what all of them share."""

from __future__ import annotations

import importlib.util
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessIO
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.substitutions import FindPackageShare

from ompo_ros.launching import endings
from ompo_ros.launching.arguments import COMMON, checked, declare, values_of
from ompo_ros.launching.parameter_file import read_parameters
from ompo_ros.launching.screen import is_terminal
from ompo_ros.nodes.all_parameters import NODES
from ompo_ros.parameters import parameters_of
from ompo_ros.resources import resource_path
from ompo_ros.to_launch import DRAWS

Values = Mapping[str, str]
REPLACED: dict[str, Any] = {"respawn": True, "respawn_delay": 1.0, "on_exit": endings.replaced}
_PROFILE = "FASTRTPS_DEFAULT_PROFILES_FILE"
_MOVE_ARMS = ("target_collector", "policy_controller", "robot_sim", "fci_driver")
_OF_A_RUN = [name for name, kind in NODES.items() if any(own.name == "run_id" for own in parameters_of(kind))]


def part(names: Iterable[str], start: Callable[[Values], list[Node]]) -> LaunchDescription:
    """A launch file that takes these arguments besides the common ones, and starts the nodes they lead to."""
    declared = checked(inspect.getfile(start), declare(*names, *COMMON))
    return LaunchDescription([*declared, OpaqueFunction(function=_start, args=[start])])


def rehearse(files: Iterable[Path], values: Values) -> None:
    """Make the nodes of launch files without starting them: a parameter file that sets too much is refused here."""
    for file in files:
        spec = importlib.util.spec_from_file_location(file.name.partition(".")[0], file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is no launch file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.start(values)


def _start(context: LaunchContext, start: Callable[[Values], list[Node]]) -> list[LaunchDescriptionEntity]:
    return [in_namespace(values_of(context), start)]


def in_namespace(values: Values, start: Callable[[Values], list[Node]]) -> GroupAction:
    """The nodes that the values lead to."""
    nodes = start(values)
    listening = [_listening_to(node) for node in nodes]
    return GroupAction([PushRosNamespace(values["namespace"]), *listening, *nodes])


def _listening_to(node: Node) -> RegisterEventHandler:
    return RegisterEventHandler(OnProcessIO(target_action=node, on_stdout=endings.hear, on_stderr=endings.hear))


def include(name: str, values: Values | None = None) -> IncludeLaunchDescription:
    """Another of our launch files."""
    path = PathJoinSubstitution([FindPackageShare("ompo_ros"), "launch", f"{name}.launch.py"])
    return IncludeLaunchDescription(PythonLaunchDescriptionSource(path), launch_arguments=(values or {}).items())


def stay_on_this_machine() -> list[LaunchDescriptionEntity]:
    """Keep nodes that need no other machine from being heard on the network, unless the user chose a range."""
    chosen = "ROS_AUTOMATIC_DISCOVERY_RANGE" in os.environ
    return [] if chosen else [SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]


def arguments_of(*names: str) -> list[DeclareLaunchArgument]:
    """What our launch files of these names declare: the one that includes them needs the values before they do."""
    return LaunchDescription([include(name) for name in names]).get_launch_arguments()


def node(
    executable: str,
    values: Values,
    parameters: Mapping[str, object],
    *,
    name: str = "",
    defaults: Mapping[str, object] | None = None,
    stdout: Collection[str] = ("log",),
    **options: Any,  # noqa: ANN401 - launch's own
) -> Node:
    """A node with the parameters given here, and those of the parameter file, which may not set the same.

    The file may set what is in `defaults`: values that are right for this launch, where the node knows only one.
    Its log, on stderr, is shown and kept; what goes to `stdout` is for the launch, or of libraries.
    """
    name = name or executable
    set_here = {"use_sim_time": follows_clock(values), **parameters}
    if executable in _OF_A_RUN:
        set_here["run_id"] = "" if values["run_id"] == "auto" else values["run_id"]
    path = values["params_file"]
    from_file = read_parameters(Path(path), values).of(name, besides=set_here) if path else {}
    profile = "fastdds_arm.xml" if executable in _MOVE_ARMS else "fastdds.xml"
    return Node(
        package="ompo_ros",
        executable=executable,
        name=name,
        parameters=[{**(defaults or {}), **from_file, **set_here}],
        arguments=["--ros-args", "--log-level", values["log_level"]],
        output={"stdout": set(stdout), "stderr": {"screen", "log"}},
        additional_env={
            _PROFILE: str(resource_path(f"config/{profile}")),
            "PYTHONUNBUFFERED": "1",
            **(DRAWS if is_terminal() else {}),
        },
        **options,
    )


def policy_server(values: Values, registry_dir: str) -> Node:
    """The policy server; it may die and comes back with all it had."""
    parameters = {**chosen(values, "task", "reward", "robot"), "registry_dir": registry_dir}
    return node("policy_server", values, parameters, **REPLACED)


def chosen(values: Values, *names: str) -> dict[str, object]:
    """The parameters that have the name and the text of an argument."""
    return {name: values[name] for name in names}


def follows_clock(values: Values) -> bool:
    """Whether time is what the stand-in says."""
    if values["use_sim_time"] == "auto":
        return float(values["real_time_factor"]) != 1.0
    return values["use_sim_time"] == "true"


def lockstep(values: Values) -> bool:
    """Whether stand-in and arm node wait for each other."""
    return values["target"] != "real" and float(values["real_time_factor"]) == 0.0


def without_people(values: Values) -> dict[str, object]:
    """Defaults of arm nodes beside a stand-in, whose cube nobody holds."""
    return {} if values["target"] in ("real", "fci") else {"cube_rest_time": 0.0}


def robot_namespace(values: Values) -> str:
    """Where the robot's topics are: a real robot's driver knows nothing of our namespace."""
    if values["robot_namespace"] != "auto":
        return values["robot_namespace"]
    return "/" if values["target"] == "real" else ""
