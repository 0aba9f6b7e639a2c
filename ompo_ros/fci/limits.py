"""The limits of the commanded motion: the preset's, with a margin for rounding and lost packets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ompo_ros.task.joint_speed import SpeedLimit
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import Robot

_MARGINS: Final = {"velocity": 0.98, "acceleration": 0.94, "jerk": 0.8}  # shares of the preset's limits
_BRAKING: Final = 0.8  # share of the acceleration by which the arm must be able to follow a falling velocity limit
_SLOWEST: Final = 0.1  # rad/s that must be allowed wherever a setpoint may be


@dataclass(frozen=True)
class Limits:
    """What the motion keeps; all are (7,)."""

    low: FloatArray  # of setpoints
    high: FloatArray
    speed: SpeedLimit
    acceleration: FloatArray
    jerk: FloatArray

    @classmethod
    def of(cls, robot: Robot) -> Limits:
        acceleration, limit = robot.acceleration * _MARGINS["acceleration"], robot.speed_limit
        deceleration = np.minimum(limit.deceleration, _BRAKING * acceleration)
        speed = replace(limit, deceleration=deceleration, share=_MARGINS["velocity"])
        reach = (_SLOWEST / speed.share + limit.offset) ** 2 / (
            2.0 * deceleration
        )  # from the end to where the slowest is allowed
        return cls(
            np.maximum(robot.position_low, limit.low + reach),
            np.minimum(robot.position_high, limit.high - reach),
            speed,
            acceleration,
            robot.jerk * _MARGINS["jerk"],
        )

    def speeds(self, *positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The largest speeds down and up (7,) that are allowed in all of the positions, and so between them."""
        down, up = self.speed.at(self.speed.distances(np.stack(positions))).min(axis=1)
        return down, up
