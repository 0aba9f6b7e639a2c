"""Notices joint states that no arm can reach: a sensor's jump must never become a command to go there."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.safety import ArmState
from ompo_ros.task.robot import Robot

_BRAKING: Final = 0.15  # s in which an arm that is no longer commanded comes to rest
_SLACK: Final = 0.1  # rad beyond what the velocity limits allow: noise, and states that came in a bunch


class Continuity:
    """Compares each state with the last believed one; only a silence makes a far place believable, time alone does not.

    A true arm seen at every tick cannot have jumped, however long it claims so: that is another's message, or a broken
    sensor. Whoever knows better says so by `forget`.
    """

    def __init__(self, robot: Robot, enable: str) -> None:
        self._velocity, self._enable = robot.velocity, enable
        self.forget()

    def forget(self) -> None:
        """Believe the next state, wherever it is."""
        self._believed: ArmState | None = None
        self._heard = np.inf  # when the latest state was measured
        self._silence = 0.0  # the longest one since the believed state

    def doubt(self, state: ArmState) -> str:
        """Say what is wrong with a finite state; nothing is, if it is believed."""
        self._silence = max(self._silence, state.time - self._heard)
        self._heard = state.time
        if self._believed is not None and state.time >= self._believed.time:
            elapsed = max(min(state.time - self._believed.time, _BRAKING), self._silence)
            way = np.abs(state.position - self._believed.position)
            if (way > self._velocity * elapsed + _SLACK).any():
                jump = f"the joint state jumped by {way.max():.2f} rad"
                return f"{jump}: if the arm is really there, run `{self._enable}`"
        self._believed, self._silence = state, 0.0
        return ""
