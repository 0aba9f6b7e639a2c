"""Notices joint states that no arm can reach: a sensor's jump must never become a command to go there."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.robot import Robot
from ompo_ros.control.safety import ArmState

_SLACK: Final = 0.1  # rad beyond what the velocity limits allow: noise, and states that came in a bunch


class Continuity:
    """Compares each state with the last believed one; after a jump, time makes the new place believable again."""

    def __init__(self, robot: Robot) -> None:
        self._velocity = robot.velocity
        self._believed: ArmState | None = None

    def doubt(self, state: ArmState) -> str:
        """Say what is wrong with a finite state; nothing is, if it is believed."""
        if self._believed is not None and state.time >= self._believed.time:
            elapsed = state.time - self._believed.time
            way = np.abs(state.position - self._believed.position)
            if (way > self._velocity * elapsed + _SLACK).any():
                return f"the joint state jumped by {way.max():.2f} rad in {elapsed:.2f} s"
        self._believed = state
        return ""
