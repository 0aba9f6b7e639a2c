"""The target's safety limits for the sources, so that both respond to a policy in the same way."""

from __future__ import annotations

import numpy as np

from ompo_ros.sim.parameters import Arms
from ompo_ros.task.joint_speed import Approach
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot
from ompo_ros.task.tasks import INCREMENT


class CommandLimits:
    """Step size, velocity and acceleration from setpoint to setpoint of N arms; not the workspace."""

    def __init__(self, robot: Robot, n: int) -> None:
        self._period, self._home = robot.period, robot.home
        self._change = np.minimum(robot.acceleration, robot.jerk * robot.period / 2.0) * robot.period
        self._fastest = np.minimum(robot.velocity, robot.max_step / robot.period)
        self._approach = Approach(robot.speed_limit, self._change, robot.period, np.zeros(JOINTS))
        self._setpoint: FloatArray = np.tile(robot.home, (n, 1))
        self._velocity: FloatArray = np.zeros((n, JOINTS))

    def reset(self, arms: Arms) -> None:
        """Begin an episode at rest, as after homing."""
        self._setpoint[arms] = self._home
        self._velocity[arms] = 0.0

    def actions(self, actions: FloatArray, measured: FloatArray) -> FloatArray:
        """Limit actions (n, 7) sent from positions `measured`."""
        wanted = (measured + INCREMENT * actions - self._setpoint) / self._period
        limited = np.clip(wanted, self._velocity - self._change, self._velocity + self._change)
        down, up = self._approach.fastest(self._setpoint, self._fastest)
        self._velocity = np.clip(limited, -down, up)
        self._setpoint = self._setpoint + self._velocity * self._period
        return np.asarray((self._setpoint - measured) / INCREMENT)
