"""The limits of the commanded motion: the preset's, with a margin for rounding and lost packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import Robot

_MARGINS: Final = {"velocity": 0.98, "acceleration": 0.95, "jerk": 0.8}  # shares of the preset's limits


@dataclass(frozen=True)
class Limits:
    """What the motion keeps: the preset's limits with a margin (7,)."""

    low: FloatArray
    high: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray

    @classmethod
    def of(cls, robot: Robot) -> Limits:
        return cls(
            robot.position_low,
            robot.position_high,
            robot.velocity * _MARGINS["velocity"],
            robot.acceleration * _MARGINS["acceleration"],
            robot.jerk * _MARGINS["jerk"],
        )
