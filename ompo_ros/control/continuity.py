"""Detects impossible jumps of joint states, so that a sensor's jump never becomes a command."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.safety import ArmState
from ompo_ros.task.robot import Robot

_BRAKING: Final = 0.15  # s until an arm without commands has come to rest
_SLACK: Final = 0.1  # rad beyond the velocity limits: noise, and states that arrived in a bunch


class Continuity:
    """Compares each state with the last accepted one; a large jump is accepted only after a gap in the messages.

    An arm seen at every tick cannot jump: a lasting jump is another robot's message or a broken sensor. `forget`
    accepts the next state, when the user knows that it is right.
    """

    def __init__(self, robot: Robot, enable: str) -> None:
        self._velocity, self._enable = robot.velocity, enable
        self.forget()

    def forget(self) -> None:
        """Accept the next state at any position."""
        self._believed: ArmState | None = None
        self._heard = np.inf  # when the latest state was measured
        self._silence = 0.0  # longest gap since the accepted state

    def doubt(self, state: ArmState) -> str:
        """Say what is wrong with a finite state, or accept it and return ""."""
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
