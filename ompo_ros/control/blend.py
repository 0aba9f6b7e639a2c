"""Continuous actions: after a change of policy or a start, the difference to the wanted action fades out."""

from __future__ import annotations

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS


class Blend:
    """Continues from the last action of any policy, also when policies change during a fade."""

    def __init__(self, period: float, blend_time: float) -> None:
        self._step = period / max(blend_time, period)
        self._share = 0.0  # of `_offset` in the action
        self._offset: FloatArray = np.zeros(JOINTS)
        self._action: FloatArray = np.zeros(JOINTS)  # the last one

    def towards(self, wanted: FloatArray, *, starts: bool) -> FloatArray:
        """The next action (7,); `starts` marks a new policy or a new motion."""
        if starts:
            self._offset, self._share = self._action - wanted, 1.0
        self._action = np.clip(wanted + self._share * self._offset, -1.0, 1.0)
        self._share = max(self._share - self._step, 0.0)
        return self._action

    def rest(self) -> None:
        """The arm has stopped: the next action starts from zero."""
        self._action = np.zeros(JOINTS)
