"""Robot presets: names, limits and driver topics of an arm, from `config/robots/*.yaml`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from ompo_ros.resources import resource_path
from ompo_ros.spelling import meant
from ompo_ros.task.config_file import ConfigFileError, YamlValue
from ompo_ros.task.joint_speed import SpeedLimit
from ompo_ros.task.kinematics import FloatArray, end_effector_position

COMMAND_INTERFACES: Final = ("forward_command", "joint_state", "joint_trajectory")
RELIABILITIES: Final = ("best_effort", "reliable")
JOINTS: Final = 7
DRIVERS: Final = ("ros2_control", "franka_ros2", "crisp", "multipanda_ros2")
Read = TypeVar("Read")


@dataclass(frozen=True)
class Driver:
    """The topics of one kind of driver."""

    state_topic: str
    state_reliability: str  # reliability of our subscription
    command_interface: str
    command_topic: str


@dataclass(frozen=True)
class Robot:
    """One arm's names, limits (7,) and settings, checked against each other."""

    name: str
    joint_names: tuple[str, ...]
    control_rate: float  # Hz
    home: FloatArray
    position_low: FloatArray
    position_high: FloatArray
    velocity: FloatArray  # far from the ends of a joint's range
    speed_limit: SpeedLimit  # everywhere
    acceleration: FloatArray
    jerk: FloatArray
    torque: FloatArray  # N m
    max_step: float  # rad between two commands
    max_lead: float  # rad between command and measured position
    home_speed: float  # rad/s
    stale_after: float  # s
    workspace_low: FloatArray  # (3,) m
    workspace_high: FloatArray
    driver: Driver

    @property
    def period(self) -> float:
        return 1.0 / self.control_rate

    @property
    def family(self) -> str:
        """The arm's model: the part of a joint's name before the number."""
        return self.joint_names[0].rsplit("_", 1)[0]


def load_robot(name_or_path: str | Path, driver: str = "") -> Robot:
    """Load `config/robots/<name>.yaml` or a file given by its path; `driver` overrides the preset's default driver."""
    text = str(name_or_path)
    path = Path(text)
    if not text.endswith((".yaml", ".yml")):
        folder = resource_path("config/robots")
        path = folder / f"{text}.yaml"
        if not path.exists():
            known = sorted(file.stem for file in folder.glob("*.yaml"))
            raise ConfigFileError(f"robot {text!r} is unknown and no .yaml file; {meant(text, known)}")
    return _read_robot(path.stem, YamlValue.of_file(path), driver)


_NUMBERS: Final = ("control_rate", "max_step", "max_lead", "home_speed", "stale_after")
_LIMITS: Final = ("velocity", "acceleration", "jerk", "torque")
_JOINT_VECTORS: Final = ("home", "position_low", "position_high", *_LIMITS)
_NEAR_ENDS: Final = "velocity_near_ends"  # may be missing: an arm whose velocity limits are the same everywhere
_POINTS: Final = ("workspace_low", "workspace_high")
_KEYS: Final = ("joint_names", *_NUMBERS, *_JOINT_VECTORS, *_POINTS, "driver", "drivers")


def _read_robot(name: str, file: YamlValue, driver: str) -> Robot:
    entries = file.mapping((*_KEYS, _NEAR_ENDS))
    if missing := [key for key in _KEYS if key not in entries]:
        file.refuse(f"{', '.join(missing)} missing")
    numbers = {key: _positive(entries[key], key) for key in _NUMBERS}
    vectors = {key: _vector(entries[key], key, JOINTS) for key in _JOINT_VECTORS}
    points = {key: _vector(entries[key], key, 3) for key in _POINTS}
    joint_names = _named("joint_names", lambda: tuple(entry.text() for entry in entries["joint_names"].items()))
    if len(set(joint_names)) != JOINTS or len(joint_names) != JOINTS:
        entries["joint_names"].refuse(f"joint_names: {JOINTS} different names are needed, got {list(joint_names)}")
    for key in _LIMITS:
        if (vectors[key] <= 0.0).any():
            entries[key].refuse(f"{key}: every joint's limit must be above 0")
    _check_order(entries["position_high"], "position", vectors["position_low"], vectors["position_high"])
    _check_order(entries["workspace_high"], "workspace", points["workspace_low"], points["workspace_high"])
    _check_home(entries["home"], vectors, points)
    fields: dict[str, Any] = {**numbers, **vectors, **points}
    return Robot(
        name=name,
        joint_names=joint_names,
        speed_limit=_read_speed_limit(entries, vectors),
        driver=_read_driver(entries, driver),
        **fields,
    )


def _read_speed_limit(entries: dict[str, YamlValue], vectors: dict[str, FloatArray]) -> SpeedLimit:
    entry = entries.get(_NEAR_ENDS)
    if entry is None:
        return SpeedLimit.constant(vectors["velocity"])
    names = ("low", "high", "deceleration", "offset")
    values = _named(_NEAR_ENDS, lambda: entry.require(names))
    near = {name: _vector(value, f"{_NEAR_ENDS}.{name}", JOINTS) for name, value in zip(names, values, strict=True)}
    if (near["deceleration"] <= 0.0).any() or (near["offset"] < 0.0).any():
        entry.refuse(f"{_NEAR_ENDS}: deceleration must be above 0 and offset at least 0 for every joint")
    limit = SpeedLimit(vectors["velocity"], near["low"], near["high"], near["deceleration"], near["offset"])
    if (limit.at(limit.distances(vectors["home"])) <= 0.0).any():
        entry.refuse(f"{_NEAR_ENDS}: no joint could move at home")
    return limit


def _read_driver(entries: dict[str, YamlValue], chosen: str) -> Driver:
    drivers = _named("drivers", lambda: entries["drivers"].mapping(DRIVERS))
    default = _named("driver", lambda: entries["driver"].word(tuple(drivers)))
    if chosen and chosen not in drivers:
        entries["drivers"].refuse(f"drivers: {chosen!r} is not among them; {meant(chosen, drivers)}")
    return {name: _read_topics(entry, f"drivers.{name}") for name, entry in drivers.items()}[chosen or default]


def _read_topics(entry: YamlValue, key: str) -> Driver:
    names = ("state_topic", "state_reliability", "command_interface", "command_topic")
    state, reliability, interface, command = _named(key, lambda: entry.require(names))
    return Driver(
        _named(f"{key}.state_topic", state.text),
        _named(f"{key}.state_reliability", lambda: reliability.word(RELIABILITIES)),
        _named(f"{key}.command_interface", lambda: interface.word(COMMAND_INTERFACES)),
        _named(f"{key}.command_topic", command.text),
    )


def _named(key: str, read: Callable[[], Read]) -> Read:
    """Add the key to an error that already names file and line."""
    try:
        return read()
    except ConfigFileError as error:
        raise ConfigFileError(f"{error} (key {key!r})") from error


def _positive(entry: YamlValue, key: str) -> float:
    value = _named(key, entry.number)
    if value <= 0.0:
        entry.refuse(f"{key}: must be above 0, got {value:g}")
    return value


def _vector(entry: YamlValue, key: str, size: int) -> FloatArray:
    return np.array(_named(key, lambda: entry.numbers(size)))


def _check_order(entry: YamlValue, key: str, low: FloatArray, high: FloatArray) -> None:
    if (low >= high).any():
        entry.refuse(f"{key}_high: must lie above {key}_low everywhere")


def _check_home(entry: YamlValue, vectors: dict[str, FloatArray], points: dict[str, FloatArray]) -> None:
    home = vectors["home"]
    if (home <= vectors["position_low"]).any() or (home >= vectors["position_high"]).any():
        entry.refuse("home: must lie within the position limits")
    hand = end_effector_position(home)
    if (hand < points["workspace_low"]).any() or (hand > points["workspace_high"]).any():
        entry.refuse(f"home: puts the hand at {hand.round(3).tolist()}, outside the workspace")
