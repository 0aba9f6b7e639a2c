"""Every launch argument: its default, its meaning and what it may be; launch files name those they take."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.launch_description_entity import LaunchDescriptionEntity

from ompo_ros.launching.screen import use_terminal
from ompo_ros.nodes.all_parameters import NODES
from ompo_ros.parameters import InvalidParameter, Parameter, parameters_of
from ompo_ros.resources import settings_path
from ompo_ros.spelling import meant
from ompo_ros.task.tasks import REWARDS, TASKS

_FLAG = ("true", "false")
_FORMS = {  # arguments that are no number and have no list of choices, each with what it may look like
    "namespace": (re.compile(r"/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?"), "use letters, digits and _, no digit first"),
    "device": (re.compile(r"auto|cpu|cuda(:\d+)?"), "known: auto, cpu, cuda, cuda:N"),
}


def _choices(node: str, name: str) -> tuple[str, ...]:
    """What a node's parameter may be: an argument that sets it must allow the same."""
    return next(item.choices for item in parameters_of(NODES[node]) if item.name == name)


SIMULATED = _choices("robot_sim", "simulator")  # targets of robot_sim; the simulators' own module needs gymnasium
OVER_FCI = ("franka_sim", "fci")  # targets that are driven by the maker's own protocol


class Argument(NamedTuple):
    """What `--show-args` shows of an argument."""

    default: str
    text: str
    choices: tuple[str, ...] = ()


ARGUMENTS = {
    "task": Argument("reach", "What the arm does.", tuple(TASKS)),
    "reward": Argument("dense", "How the task is rewarded.", tuple(REWARDS)),
    "target": Argument(
        "auto",
        "The robot: a stand-in; an FR3 by fci_driver (fci), or its stand-in (franka_sim); real: behind another driver. "
        "auto: panda_gym where PyBullet is installed, else mujoco.",
        ("auto", *SIMULATED, *OVER_FCI, "real"),
    ),
    "target_domain": Argument(
        "nominal",
        "Dynamics of the stand-in: a file of config/domains by name, or a path. "
        "auto: gaps/expressible_24 for reach, gaps/push_8 for push, sagging for franka_sim.",
    ),
    "robot": Argument(
        "auto",
        "Robot preset: a file of config/robots by name, or a path. auto: panda, or fr3 for fci and franka_sim.",
    ),
    "robot_ip": Argument("", "Address of the robot's control, for target:=fci."),
    "driver": Argument(
        "", "Which of the preset's drivers to use; needed for real with a shipped preset. Empty: the preset's default."
    ),
    "robot_namespace": Argument("auto", "Where the robot's topics are. auto: / for real, else the nodes' own."),
    "speed_scale": Argument("1.0", "Share of the preset's velocity limits to use, up to 1."),
    "setting": Argument("domain_adaptation", "Which of the paper's settings.", _choices("learner", "learning.setting")),
    "algorithm": Argument("ompo", "Update rule.", _choices("learner", "learning.algorithm")),
    "pretrained": Argument(
        "auto", "Networks to start from, a file. auto: the shipped ones of the task. none: start from scratch."
    ),
    "warm_start": Argument("", "Recordings to learn from as well: files or folders of runs, separated by commas."),
    "demonstrations": Argument(
        "", "Recordings whose successful episodes are demonstrations: files or folders of runs, separated by commas."
    ),
    "record": Argument("true", "Record the run to recordings/ in its folder.", _FLAG),
    "device": Argument("auto", "Where the learner computes: auto, cpu, cuda or cuda:N."),
    "target_steps": Argument("500", "Steps on the target after which the run ends; 0: endless."),
    "num_sources": Argument("1", "Source collectors."),
    "run_dir": Argument("", "Folder of the run. Empty: runs/<task>-<time>."),
    "resume": Argument("false", "Go on with the run in run_dir, with its own arguments.", _FLAG),
    "role": Argument("all", "Which part runs on this machine.", ("all", "learner", "source", "target")),
    "policy": Argument(
        "auto",
        "ONNX file to run. auto: the one that comes with the package. "
        "stable: follow policy/stable of a policy server in the namespace.",
    ),
    "registry_dir": Argument("", "Run what is stable in this folder, a run's `policies`. Empty: run `policy`."),
    "enabled": Argument("false", "Move at once instead of waiting for `ompo enable`.", _FLAG),
    "dry_run": Argument("false", "Do everything but command the robot.", _FLAG),
    "view": Argument("auto", "Show the run in a browser. auto: where a person is at the terminal.", ("auto", *_FLAG)),
    "view_host": Argument("127.0.0.1", "Address of the page. Beyond this machine it asks for a token."),
    "run_id": Argument(
        "auto",
        "Identity that the nodes of a run share. auto: the run folder's, or a new one to deploy; "
        "none where nodes are started elsewhere (role, a policy server).",
    ),
    "params_file": Argument(
        "auto",
        "Parameters of nodes that no argument sets, a YAML file. auto: config/adapt.yaml, or adapt_push.yaml for push.",
    ),
    "namespace": Argument("ompo", "Namespace of all nodes."),
    "log_level": Argument("info", "Of all nodes.", ("debug", "info", "warn", "error")),
    "use_sim_time": Argument("auto", "Follow /clock. auto: when the stand-in is not in real time.", ("auto", *_FLAG)),
    "real_time_factor": Argument("1.0", "Speed of the stand-in; 0: as fast as possible, in lockstep."),
    "seed": Argument("0", "Start of all randomness."),
}
# What every node needs; listed last, since they are the ones least often given.
COMMON = ("params_file", "run_id", "seed", "real_time_factor", "use_sim_time", "namespace", "log_level")
_NUMBERS: dict[str, Parameter] = {  # arguments that are a number, each with the parameter it sets
    parameter.name: parameter
    for kind in NODES.values()
    for parameter in parameters_of(kind)
    if parameter.name in ARGUMENTS and parameter.is_number
}


class InvalidArgument(ValueError):
    """A launch argument that cannot be used; the message says what to give."""


def declare(*names: str, **defaults: str) -> list[DeclareLaunchArgument]:
    """Declare arguments of the table, some of them with another default."""
    return [_declare(name, defaults.get(name, ARGUMENTS[name].default)) for name in (*names, *defaults)]


# Of each task, a drawn arm on which the shipped policy succeeds in less than a quarter of its episodes.
_GAPS = {"reach": "gaps/expressible_24", "push": "gaps/push_8"}


def _declare(name: str, default: str) -> DeclareLaunchArgument:
    _, text, choices = ARGUMENTS[name]
    return DeclareLaunchArgument(name, default_value=default, description=text, choices=list(choices) or None)


def values_of(context: LaunchContext) -> dict[str, str]:
    """The arguments of a launch under way, as far as they are declared or given so far."""
    values = {name: str(value) for name, value in context.launch_configurations.items() if name in ARGUMENTS}
    return {**values, **_chosen_for(values)}


def _chosen_for(values: Mapping[str, str]) -> dict[str, str]:
    """What `auto` means for the target and the task."""
    target, task = values.get("target", ""), values.get("task", "reach")
    meanings = {
        "robot": "fr3" if target in OVER_FCI else "panda",
        "target_domain": "sagging" if target == "franka_sim" else _GAPS.get(task, "nominal"),
        "params_file": str(settings_path(task)),
    }
    return {name: meaning for name, meaning in meanings.items() if values.get(name) == "auto"}


def checked(file: str, declared: Sequence[DeclareLaunchArgument]) -> list[LaunchDescriptionEntity]:
    """Declare the arguments of a launch file, after what the user gave was checked against them."""
    known = [argument.name for argument in declared]
    return [OpaqueFunction(function=_check_given, args=[Path(file).name, known]), *declared]


def _check_given(context: LaunchContext, file: str, known: Sequence[str]) -> None:
    typed = _typed(sys.argv, file)
    if typed is not None:
        use_terminal()
    for name in typed or ():
        if name not in known:
            raise InvalidArgument(f"{name}:= is no argument of {file}; {meant(name, known)}")
    check_values(values_of(context))


def _typed(words: Sequence[str], file: str) -> list[str] | None:
    """The names on the command line of this launch file; None where another file includes it, with its own."""
    for i, word in enumerate(words):
        if Path(word).name == file and (words[i - 1] == "ompo_ros" or "/" in word):
            return [given.partition(":=")[0] for given in words[i + 1 :] if ":=" in given]
    return None


def check_values(values: Mapping[str, str]) -> None:
    """Refuse a value that is none of an argument's choices, no number of its range, or has not its form."""
    for name, value in values.items():
        choices = ARGUMENTS[name].choices
        if choices and value not in choices:
            raise InvalidArgument(f"{name}:={value} is not possible; {meant(value, choices)}")
        if name in _NUMBERS:
            _check_number(name, value, _NUMBERS[name])
        form, advice = _FORMS.get(name, (None, ""))
        if form is not None and not form.fullmatch(value):
            raise InvalidArgument(f"{name}:={value} is not possible; {advice}")


def _check_number(name: str, value: str, parameter: Parameter) -> None:
    whole = isinstance(parameter.default, int)
    try:
        parameter.check(int(value) if whole else float(value))
    except InvalidParameter as error:
        raise InvalidArgument(f"{name}:={value} is not within [{parameter.low:.15g}, {parameter.high:.15g}]") from error
    except ValueError as error:
        raise InvalidArgument(f"{name}:={value} is no {'whole ' if whole else ''}number") from error
