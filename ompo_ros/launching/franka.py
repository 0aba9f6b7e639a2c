"""A robot reached by its maker's protocol: what the arguments must be, and the driver and stand-in of a launch."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Final

from launch_ros.actions import Node

from ompo_ros.fci.collision import THRESHOLDS
from ompo_ros.launching import endings
from ompo_ros.launching.arguments import OVER_FCI, InvalidArgument
from ompo_ros.launching.nodes import Values, chosen, node, robot_namespace
from ompo_ros.task.config_file import ConfigFileError
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

_PACKAGES: Final = ("pylibfranka", "ruckig")
_THIS_MACHINE: Final = "127.0.0.1"
_FIRST_START: Final = 600.0  # s in which the stand-in may install what it needs


def check_franka(values: Mapping[str, str]) -> None:
    """Refuse what the driver or its stand-in would refuse seconds later."""
    target = values["target"]
    if target != "fci" and values.get("robot_ip"):
        raise InvalidArgument(f"robot_ip:={values['robot_ip']} is for target:=fci; leave it out with target:={target}")
    if target not in OVER_FCI:
        return
    if target == "fci" and not values.get("robot_ip"):
        raise InvalidArgument("target:=fci needs robot_ip:=ADDRESS, the address of the robot's control")
    _check_preset(values)
    if float(pace := values["real_time_factor"]) != 1.0:
        raise InvalidArgument(f"real_time_factor:={pace} is not possible: {target} runs in real time")
    if target == "franka_sim":
        _check_stand_in(values)
    if values.get("role", "all") in ("all", "target") and not all(map(importlib.util.find_spec, _PACKAGES)):
        raise InvalidArgument(f"target:={target} needs {' and '.join(_PACKAGES)}: install ompo_ros[franka]")


def _check_preset(values: Mapping[str, str]) -> None:
    target, robot = values["target"], load_robot(values["robot"], values["driver"])
    if robot.family != "fr3":
        raise InvalidArgument(f"robot:={values['robot']} is no FR3, which target:={target} is for; use robot:=fr3")
    if robot.driver.command_interface != "forward_command":
        raise InvalidArgument(
            f"driver:={values['driver']} takes a {robot.driver.command_interface}; target:={target} brings its own "
            "driver for forward_command, so leave driver:= out or give one with that interface"
        )


def _check_stand_in(values: Mapping[str, str]) -> None:
    if values["task"] != "reach":
        raise InvalidArgument(f"task:={values['task']} is not possible: franka_sim has no cube; use task:=reach")
    from ompo_ros.fci.simulated import values_of  # a machine with the real robot needs no simulator
    from ompo_ros.sim.domain import load_domain

    try:
        values_of(load_domain(values["target_domain"]), seed=0)
    except ConfigFileError as error:
        raise InvalidArgument(f"target_domain:={values['target_domain']} is not possible; {error}") from error
    except ValueError as error:
        raise InvalidArgument(f"target_domain:={values['target_domain']} is not possible: {error}") from error


def forces_to_set(values: Values) -> list[str]:
    """What a person has to give another driver, since in push the nodes alone do not keep forces harmless."""
    task = values["task"]
    if values["target"] != "real" or not Task(task, "dense").has_cube:
        return []
    force, torque = THRESHOLDS[task].force, THRESHOLDS[task].torque
    return [
        f"{task} touches things, and only the robot's own limits keep its forces harmless: set collision thresholds of "
        f"{force[0]:g} N and {', '.join(f'{limit:g}' for limit in torque)} Nm, or lower ones (docs/real_robot.md)"
    ]


def franka_nodes(values: Values) -> list[Node]:
    """The driver, and the robot's stand-in before it; all ends with either."""
    driver: dict[str, object] = {
        **chosen(values, "robot", "driver"),
        "robot_namespace": robot_namespace(values),
        "robot_ip": values["robot_ip"],
    }
    if values["target"] == "fci":
        return [_driver(values, driver)]
    stand_in = {
        **chosen(values, "robot"),
        "robot_ip": _THIS_MACHINE,
        "domain": values["target_domain"],
        "seed": int(values["seed"]),
    }
    return [
        node("franka_sim", values, stand_in, on_exit=endings.required("the stand-in robot")),
        _driver(values, {**driver, "robot_ip": _THIS_MACHINE, "connect_timeout": _FIRST_START}),
    ]


def _driver(values: Values, parameters: Mapping[str, object]) -> Node:
    """The driver; a task that touches things must not be stopped by its own forces, whatever the parameter file."""
    stops = THRESHOLDS[values["task"]].parameters()
    return node("fci_driver", values, parameters, defaults=stops, on_exit=endings.required("the robot's driver"))
