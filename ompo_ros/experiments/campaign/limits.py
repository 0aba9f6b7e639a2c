"""An arm's limits and topics, read directly from its preset: the judge shares no reader with the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from ompo_ros.experiments.campaign.faults import FCI
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
    near_ends: dict[str, Array]  # how velocity limits fall towards a joint's ends; empty where they do not
    period: float
    is_trajectory: bool
    command_topic: str
    state_topic: str

    def velocity_share(self, positions: Array, velocities: Array, tolerance: float) -> Array:
        """The used share (n, 7) of the velocity limits, where each velocity is driven; `tolerance` is a share of them.

        A speed of 1e-6 rad/s is rest, also where the limit is zero.
        """
        allowed = np.broadcast_to(self.velocity, velocities.shape)
        if self.near_ends:
            ends = np.where(velocities > 0.0, self.near_ends["high"] - positions, positions - self.near_ends["low"])
            root = np.sqrt(2.0 * self.near_ends["deceleration"] * ends.clip(min=0.0))
            allowed = np.minimum(allowed, (root - self.near_ends["offset"]).clip(min=0.0))
        result: Array = np.abs(velocities) / (allowed * (1.0 + tolerance) + 1e-6)
        return result


def limits_behind(driver: str) -> Limits:
    """The limits of the campaign's arm with this driver."""
    return read_limits("fr3") if driver == FCI else read_limits("panda", driver)


def read_limits(preset: str, driver: str = "") -> Limits:
    """Read a preset of config/robots, or a file; an empty driver is the preset's default."""
    path = Path(preset) if preset.endswith(".yaml") else resource_path(f"config/robots/{preset}.yaml")
    values = yaml.safe_load(path.read_text())
    topics = values["drivers"][driver or values["driver"]]
    arrays = ("position_low", "position_high", "velocity", "acceleration", "jerk")
    near_ends = values.get("velocity_near_ends", {})
    return Limits(
        joint_names=tuple(values["joint_names"]),
        period=1.0 / values["control_rate"],
        is_trajectory=topics["command_interface"] == "joint_trajectory",
        command_topic=topics["command_topic"],
        state_topic=topics["state_topic"],
        near_ends={name: np.array(numbers, dtype=float) for name, numbers in near_ends.items()},
        **{name: np.array(values[name], dtype=float) for name in arrays},
    )
