"""What became of our commands: the robot reports the motion that it commands itself by, with every state.

A robot drops a command that comes after its cycle, as one that never comes, and continues by itself: with constant
acceleration. It names no such cycle. But the position it reports is then not the one that we sent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol

from ompo_ros.fci.motion import CYCLE, Motion

_ROUNDING: Final = 6e-8  # share of a position: states have single precision, commands have double
_ZERO: Final = 1e-9  # rad


class Commanded(Protocol):
    """The commanded part of the robot's state; the velocities are differences of its last two positions."""

    q_d: Sequence[float]
    dq_d: Sequence[float]
    ddq_d: Sequence[float]


def catch_up(motion: Motion, robot: Commanded, cycles: int) -> int:
    """Go on from the robot's own motion unless it has our last command; returns how many cycles got none.

    `cycles` is how many of the robot's cycles have passed since its last state that we have seen.
    """
    if cycles <= 1 and _are_same(motion.position, robot.q_d):
        return 0
    now = [velocity + rate * CYCLE / 2.0 for velocity, rate in zip(robot.dq_d, robot.ddq_d, strict=True)]
    motion.resume(list(robot.q_d), now, list(robot.ddq_d))
    return max(cycles - 1, 1)


def _are_same(sent: Sequence[float], reported: Sequence[float]) -> bool:
    pairs = zip(sent, reported, strict=True)
    return all(math.isclose(ours, theirs, rel_tol=_ROUNDING, abs_tol=_ZERO) for ours, theirs in pairs)
