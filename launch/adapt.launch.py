"""Adapts a policy to a robot while it moves: sources, robot or stand-in, target collector, learner, policy server."""

import importlib.util
import json
import os
from datetime import datetime
from pathlib import Path

import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    LogInfo,
    OpaqueFunction,
    SetEnvironmentVariable,
    Shutdown,
)
from launch.events.process import ProcessExited
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.substitutions import FindPackageShare

from ompo_ros.experiments import resumption
from ompo_ros.run_id import run_id_of

SHARE = FindPackageShare("ompo_ros")
PROFILE = "FASTRTPS_DEFAULT_PROFILES_FILE"
SHIPPED = {"reach": "models/policies/panda_reach.safetensors"}
OWNERS = ("all", "learner")  # roles whose folder is the run's: checkpoints are there
REFUSED = 2  # exit code of a node that cannot work with its settings
ARGUMENTS = [
    ("task", "reach", "What the arm learns.", ["reach", "push"]),
    ("reward", "dense", "How the task is rewarded.", ["dense", "sparse"]),
    (
        "target",
        "auto",
        "The robot: a stand-in, or real; auto is panda_gym where PyBullet is installed, else mujoco.",
        ["auto", "panda_gym", "mujoco", "real"],
    ),
    ("target_domain", "creeping", "The stand-in's dynamics: a file of config/domains, by name or path.", None),
    ("robot", "panda", "Robot preset, a file of config/robots: panda, fr3, or a path.", None),
    ("driver", "", "Which of the preset's drivers to speak to; empty: its default.", None),
    ("robot_namespace", "auto", "Where the robot's topics are; auto: / for real, else the nodes' own.", None),
    ("speed_scale", "1.0", "Share of the preset's velocity limits to use, up to 1.", None),
    (
        "setting",
        "domain_adaptation",
        "Which of the paper's settings.",
        ["domain_adaptation", "stationary", "non_stationary"],
    ),
    ("algorithm", "ompo", "Update rule.", ["ompo", "sac", "td3", "algaedice", "darc"]),
    (
        "pretrained",
        "auto",
        "Networks to start from, a file; auto: the shipped ones for reach, else none; none starts from scratch.",
        None,
    ),
    ("params_file", PathJoinSubstitution([SHARE, "config", "adapt.yaml"]), "Parameters of all nodes.", None),
    ("device", "auto", "Where the learner computes: auto, cpu, cuda or cuda:N.", None),
    ("target_steps", "2500", "Steps on the target after which the run ends; 0: endless.", None),
    ("num_sources", "1", "Source collectors.", None),
    ("run_dir", "", "Folder of the run; empty: runs/<task>-<time>.", None),
    (
        "run_id",
        "auto",
        "Identity of the run, which its nodes check; auto: the run folder's own, none where the role is not all.",
        None,
    ),
    ("resume", "false", "Go on with the run in run_dir, with its own arguments.", ["true", "false"]),
    ("namespace", "ompo", "Namespace of all nodes.", None),
    ("log_level", "info", "Of all nodes.", ["debug", "info", "warn", "error"]),
    ("use_sim_time", "auto", "Follow /clock; auto: when the stand-in is not in real time.", ["auto", "true", "false"]),
    ("real_time_factor", "1.0", "Speed of the stand-in; 0: as fast as possible, in lockstep.", None),
    ("seed", "0", "Start of all randomness.", None),
    ("role", "all", "Which part runs on this machine.", ["all", "learner", "source", "target"]),
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
    given: set[str] = set()
    return LaunchDescription(
        [
            OpaqueFunction(function=note_given, args=[given]),  # a declaration fills in its default
            *declared,
            SetEnvironmentVariable(PROFILE, profile),
            SetEnvironmentVariable("PYTHONUNBUFFERED", "1"),
            OpaqueFunction(function=start, args=[given]),
        ]
    )


def note_given(context: LaunchContext, given: set[str]) -> None:
    """Note which arguments the user gave, so that a resumed run knows them from defaults."""
    given.update(context.launch_configurations)


def start(context: LaunchContext, given: set[str]) -> list[LaunchDescriptionEntity]:
    """Start the nodes of this machine's role, in the namespace; nothing where the run is finished already."""
    values = {name: LaunchConfiguration(name).perform(context) for name, *_ in ARGUMENTS}
    values["target"] = chosen_target(values["target"])
    folder = Path(values["run_dir"] or f"runs/{values['task']}-{datetime.now():%Y%m%d-%H%M%S}").resolve()
    values["run_dir"] = str(folder)
    check_run_dir(folder, values)
    if values["resume"] != "true":
        keep_start(folder, values)
        return start_nodes(values)
    values, changes = resumption.resumed_arguments(folder, values, given)
    report = resumption.finished_report(folder, int(values["target_steps"]))
    if report is not None:
        return [LogInfo(msg=f"the run in {folder} is finished; a higher target_steps goes on with it\n\n{report}")]
    return [*(LogInfo(msg=f"resuming with {change}") for change in changes), *start_nodes(values)]


def start_nodes(values: dict[str, str]) -> list[LaunchDescriptionEntity]:
    """Decide what is left open, and start the nodes."""
    values = {**values, "settings": json.dumps(values)}
    if values["robot_namespace"] == "auto":
        values["robot_namespace"] = "/" if values["target"] == "real" else ""
    own_parameters = Path(values["run_dir"]) / resumption.PARAMETERS
    if values["resume"] == "true" and own_parameters.exists():
        values["params_file"] = str(own_parameters)
    roles = ("learner", "source", "target") if values["role"] == "all" else (values["role"],)
    if values["run_id"] == "auto":
        values["run_id"] = run_id_of(Path(values["run_dir"])) if values["role"] == "all" else ""
    nodes = [node for role in roles for node in ROLES[role](values)]
    return [
        *stay_on_this_machine(values),
        LogInfo(msg=f"adapting to {values['target']} by {values['algorithm']}, run in {values['run_dir']}"),
        LogInfo(msg=f"run_id {values['run_id'] or '(none)'}"),
        GroupAction([PushRosNamespace(values["namespace"]), *nodes]),
    ]


def stay_on_this_machine(values: dict[str, str]) -> list[LaunchDescriptionEntity]:
    """Keep a run that needs no other machine from being heard on the network, unless the user chose a range."""
    if values["role"] != "all" or values["target"] == "real" or "ROS_AUTOMATIC_DISCOVERY_RANGE" in os.environ:
        return []
    return [SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]


def chosen_target(target: str) -> str:
    """Take panda-gym for the stand-in where it can run."""
    if target != "auto":
        return target
    return "panda_gym" if importlib.util.find_spec("pybullet") else "mujoco"


def check_run_dir(folder: Path, values: dict[str, str]) -> None:
    """A folder of its own for each run; an old one is gone on with only if that was asked for."""
    if values["role"] not in OWNERS:
        return
    has_run = resumption.holds_run(folder)
    if has_run and values["resume"] != "true":
        raise RuntimeError(f"{folder} holds a run already: go on with it by resume:=true, or choose another run_dir.")
    if values["resume"] == "true" and not has_run:
        raise RuntimeError(f"{folder} holds no run to resume: give its folder as run_dir:=PATH.")


def keep_start(folder: Path, values: dict[str, str]) -> None:
    """Leave with a new run what it is started with; another role's run in the same folder keeps its own."""
    if values["role"] in OWNERS or not resumption.kept_arguments(folder):
        resumption.keep_start(folder, values)


def end(reason: str, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Stop all nodes and say why, unless they are stopping already: launch itself keeps the reason to itself."""
    return [] if context.is_shutdown else [LogInfo(msg=f"ending: {reason}"), Shutdown(reason=reason)]


def refused(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End all when a node refuses its settings: it would refuse them again."""
    return end(f"{event.process_name} refused its settings", context) if event.returncode == REFUSED else []


def robot_died(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End all with the stand-in robot."""
    return end("the stand-in robot died", context)


def collector_died(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End all with what moves the arm."""
    return end("the target collector died", context)


def run_ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End all with the run manager, whatever ended it."""
    return end("the run is over" if event.returncode == 0 else "the run manager died", context)


def node(executable: str, values: dict[str, str], parameters: dict[str, object], **options: object) -> Node:
    """One of our nodes, with what all of them share."""
    if executable in ("target_collector", "robot_sim"):
        options["additional_env"] = {PROFILE: PathJoinSubstitution([SHARE, "config", "fastdds_arm.xml"])}
    sim_time = values["use_sim_time"]
    follows_clock = float(values["real_time_factor"]) != 1.0 if sim_time == "auto" else sim_time == "true"
    run_id = {} if executable == "robot_sim" else {"run_id": values["run_id"]}
    return Node(
        package="ompo_ros",
        executable=executable,
        parameters=[values["params_file"], {"use_sim_time": follows_clock, **run_id, **parameters}],
        arguments=["--ros-args", "--log-level", values["log_level"]],
        output="screen",
        **{"name": executable, **options},
    )


def learner_nodes(values: dict[str, str]) -> list[Node]:
    """The learner and the policy server; either may die and comes back with all it had."""
    task = {"task": values["task"], "reward": values["reward"]}
    auto = SHIPPED.get(values["task"], "none")
    pretrained = auto if values["pretrained"] == "auto" else values["pretrained"]
    learner = {
        **task,
        "run_dir": values["run_dir"],
        "resume": True,
        "pretrained": "" if pretrained == "none" else pretrained,
        "device": values["device"],
        "seed": int(values["seed"]),
        "target_steps": int(values["target_steps"]),
        "learning.algorithm": values["algorithm"],
        "learning.setting": values["setting"],
    }
    registry = {**task, "robot": values["robot"], "registry_dir": f"{values['run_dir']}/policies"}
    return [
        node("learner", values, learner, **REPLACED),
        node("policy_server", values, registry, **REPLACED),
    ]


def source_nodes(values: dict[str, str]) -> list[Node]:
    """Simulated arms; a source that dies is replaced."""
    if values["setting"] != "domain_adaptation":
        return []
    number = int(values["num_sources"])
    # Their names are numbered, but a parameter file speaks of `source_collector`: what it says is said to each.
    named = yaml.safe_load(Path(values["params_file"]).read_text()).get("/**/source_collector", {})
    common = {**named.get("ros__parameters", {}), **{name: values[name] for name in ("task", "reward", "robot")}}
    return [
        node(
            "source_collector",
            values,
            {**common, "seed": int(values["seed"]), "num_sources": number, "index": i},
            name=f"source_collector_{i}",
            **REPLACED,
        )
        for i in range(number)
    ]


def target_nodes(values: dict[str, str]) -> list[Node]:
    """The robot's side; what moves the arm is not restarted behind its user's back, the whole stops instead."""
    lockstep = values["target"] != "real" and float(values["real_time_factor"]) == 0.0
    common = {name: values[name] for name in ("task", "robot", "driver", "robot_namespace")}
    common["seed"] = int(values["seed"])
    collector = {
        **common,
        "reward": values["reward"],
        "speed_scale": float(values["speed_scale"]),
        "lockstep": lockstep,
        "target_steps": int(values["target_steps"]),
        "enabled": False,
    }
    manager = {
        "run_dir": values["run_dir"],
        "target_steps": int(values["target_steps"]),
        "settings": values["settings"],
    }
    nodes = [
        node("target_collector", values, collector, on_exit=collector_died),
        node("run_manager", values, manager, on_exit=run_ended),
    ]
    if values["target"] == "real":
        return nodes
    robot = {
        **common,
        "simulator": values["target"],
        "domain": values["target_domain"],
        "real_time_factor": float(values["real_time_factor"]),
    }
    return [node("robot_sim", values, robot, on_exit=robot_died), *nodes]


REPLACED = {"respawn": True, "respawn_delay": 1.0, "on_exit": refused}
ROLES = {"learner": learner_nodes, "source": source_nodes, "target": target_nodes}
