"""Actions without a jump: after a swap or a start, the difference to what is wanted fades away."""

from __future__ import annotations

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS


class Blend:
    """Goes on from the last action, whoever chose it; a swap within a swap as well."""

    def __init__(self, period: float, blend_time: float) -> None:
        self._step = period / max(blend_time, period)
        self._share = 0.0  # of `_offset` in the action
        self._offset: FloatArray = np.zeros(JOINTS)
        self._action: FloatArray = np.zeros(JOINTS)  # the last one

    def towards(self, wanted: FloatArray, *, starts: bool) -> FloatArray:
        """Give the next action (7,); `starts` where another policy or another motion begins."""
        if starts:
            self._offset, self._share = self._action - wanted, 1.0
        self._action = np.clip(wanted + self._share * self._offset, -1.0, 1.0)
        self._share = max(self._share - self._step, 0.0)
        return self._action

    def rest(self) -> None:
        """The arm stands: the next action starts from none."""
        self._action = np.zeros(JOINTS)
