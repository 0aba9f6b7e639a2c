"""What a person can ask for on the page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Act(Enum):
    """The buttons, by what their answers are shown under."""

    STOP = "stop"
    ENABLE = "enable"
    PAUSE = "pause"
    RESUME = "resume"
    SAVE = "save checkpoint"
    EVALUATE = "evaluate"
    ROLL_BACK = "roll back"
    ACTIVATE = "activate"
    PIN = "pin"
    GOAL = "goal"


@dataclass(frozen=True)
class Press:
    """One press; `number` is of episodes or a policy, `goal` in the base frame, m."""

    act: Act
    number: int = 0
    goal: tuple[float, float, float] = (0.0, 0.0, 0.0)
