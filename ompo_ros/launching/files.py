"""The files that arguments and parameter files name, looked at before anything starts."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path

from ompo_ros.launching.arguments import InvalidArgument
from ompo_ros.launching.franka import check_franka
from ompo_ros.launching.parameter_file import InvalidParameterFile, ParameterFile
from ompo_ros.resources import networks_name, resource_path
from ompo_ros.task.config_file import ConfigFileError
from ompo_ros.task.robot import load_robot


def chosen_target(values: Mapping[str, str]) -> str:
    """Take panda-gym for the stand-in where it can run."""
    has_pybullet = importlib.util.find_spec("pybullet") is not None
    if values["target"] == "panda_gym" and not has_pybullet:
        raise InvalidArgument("target:=panda_gym needs PyBullet, which is not installed; use target:=mujoco")
    if values["target"] != "auto":
        return values["target"]
    return "panda_gym" if has_pybullet else "mujoco"


def pretrained_networks(values: Mapping[str, str]) -> str:
    """The file of the networks to start from; empty for none."""
    name = values["pretrained"]
    if name == "auto":
        name = networks_name(values["task"])
    if name == "none":
        return ""
    if Path(name).expanduser().is_file():
        return str(Path(name).expanduser().resolve())
    try:
        return str(resource_path(name))
    except FileNotFoundError as error:
        raise InvalidArgument(f"pretrained:={name} is no file; give the path of one, auto or none") from error


def check_arm(values: Mapping[str, str]) -> None:
    """Refuse a preset, a driver of it or a stand-in's domain that there is not."""
    _check("robot", lambda name: _load("robot", name), values)
    _check("driver", lambda name: load_robot(values["robot"], name), values)
    check_franka(values)
    if values["target"] == "real" and not values["driver"] and _sends_steps(values["robot"]):
        raise InvalidArgument(
            f"target:=real needs driver:=NAME: the default of robot:={values['robot']} sends steps, which a Franka "
            "answers with a reflex. docs/real_robot.md says which driver moves which arm."
        )
    if values["target"] not in ("real", "fci"):
        _check("target_domain", lambda name: _load_target(name, values["target"]), values)


def _sends_steps(robot: str) -> bool:
    return load_robot(robot).driver.command_interface == "forward_command"


def check_files(values: Mapping[str, str], parameters: ParameterFile) -> None:
    """Refuse what a node would refuse seconds later: a preset, a domain or networks that cannot be read."""
    check_arm(values)
    if values["role"] in ("all", "learner"):
        pretrained_networks(values)
        _check("warm_start", _find_recordings, values)
        _check("demonstrations", _find_recordings, values)
    for key, kind, name in parameters.named():
        try:
            _load(kind, name)
        except ConfigFileError as error:
            raise InvalidParameterFile(f"params_file {parameters.path}: {key}: {error}") from error


def _check(argument: str, load: Callable[[str], object], values: Mapping[str, str]) -> None:
    try:
        load(values[argument])
    except ValueError as error:
        raise InvalidArgument(f"{argument}:={values[argument]} is not possible; {error}") from error


def _load(kind: str, name: str) -> None:
    if kind == "robot":
        load_robot(name)
    else:
        from ompo_ros.sim.domain import load_domain  # a machine with the real robot needs no simulator

        load_domain(name)


def _load_target(name: str, simulator: str) -> None:
    from ompo_ros.sim.domain import load_domain
    from ompo_ros.sim.parameters import require_expressible

    domain = load_domain(name)
    if simulator == "panda_gym":
        require_expressible(domain.changed)


def _find_recordings(paths: str) -> None:
    """Whether each can be opened is for the learner to find out: that may take minutes."""
    if paths:
        from ompo_ros.recording import recording_files  # needs mcap, which other launches do not

        for path in paths.split(","):
            recording_files(Path(path))
