"""An arm's limits and topics, read directly from its preset: the judge shares no reader with the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from ompo_ros.resources import resource_path

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """One arm's limits (7,), its control period (s), and the topics of one of its drivers."""

    joint_names: tuple[str, ...]
    position_low: Array
    position_high: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    period: float
    is_trajectory: bool
    command_topic: str
    state_topic: str


def read_limits(preset: str, driver: str = "") -> Limits:
    """Read a preset of config/robots, or a file; an empty driver is the preset's default."""
    path = Path(preset) if preset.endswith(".yaml") else resource_path(f"config/robots/{preset}.yaml")
    values = yaml.safe_load(path.read_text())
    topics = values["drivers"][driver or values["driver"]]
    arrays = ("position_low", "position_high", "velocity", "acceleration", "jerk")
    return Limits(
        joint_names=tuple(values["joint_names"]),
        period=1.0 / values["control_rate"],
        is_trajectory=topics["command_interface"] == "joint_trajectory",
        command_topic=topics["command_topic"],
        state_topic=topics["state_topic"],
        **{name: np.array(values[name], dtype=float) for name in arrays},
    )
