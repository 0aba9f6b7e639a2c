"""The motion a forward command controller makes of its setpoints: straight to each within one period, then it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ompo_ros.experiments.campaign.commands import TICK, Command, Motion
from ompo_ros.experiments.campaign.limits import Array

JITTER = 0.25  # share of a period by which the time of a message heard over a network may be wrong
ARRIVED = 0.9  # share of a period after which a setpoint counts as reached
LATE = 0.25  # share of a period by which a setpoint may be late and still find the arm moving

_READINGS = 5  # of a time that is not exact
_LONG = 100.0  # periods after which it does not matter how long ago the last setpoint was


@dataclass(frozen=True)
class Step:
    """What one setpoint does: from where, at which velocity, after which velocity, and the seconds it had to change."""

    time: float
    begin: Array
    target: Array
    velocity: Array
    velocity_before: Array
    elapsed: float


def follow_setpoints(commands: Sequence[Command], start: Array, period: float, jitter: float) -> list[Step]:
    """Turn setpoints into steps, from rest at `start` (7,); times are known up to `jitter` periods.

    Where two readings of the time differ, whether the arm had arrived or had stopped, the milder one counts.
    """
    still = np.zeros_like(start)
    steps = [Step(-np.inf, start, start, still, still, period)]
    for command in sorted(commands, key=lambda command: command.received):
        steps.append(_step(steps[-1], command, period, jitter))
    return steps[1:]


def _step(before: Step, command: Command, period: float, jitter: float) -> Step:
    now, target = command.received, command.points[0].position
    share = min((now - before.time) / period, _LONG)
    elapsed = share + jitter if share + jitter < ARRIVED else 1.0
    # A held setpoint stops at once: that is the driver's nature. What starts from it starts from rest.
    velocities = [before.velocity] if share <= 1.0 + LATE + jitter else []
    if share > 1.0 + LATE - jitter:
        velocities.append(np.zeros_like(target))
    readings = [
        Step(now, begin, target, (target - begin) / period, velocity, elapsed * period)
        for begin in _places(before, share, period, jitter)
        for velocity in velocities
    ]
    return min(readings, key=lambda step: float(np.abs(step.velocity - step.velocity_before).max()))


def _places(before: Step, share: float, period: float, jitter: float) -> list[Array]:
    """Where the arm may be after so much of its period."""
    shares = (share,) if jitter == 0.0 else np.linspace(share - jitter, share + jitter, _READINGS)
    return [
        before.begin + before.velocity * max(reading, 0.0) * period if reading < ARRIVED else before.target
        for reading in shares
    ]


def sample(steps: Sequence[Step], period: float, until: float) -> Motion:
    """Give the reference at 1 kHz from the first setpoint to `until`."""
    if not steps:
        return Motion(np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))
    times = np.arange(steps[0].time, max(until, steps[-1].time + period), TICK)
    which = np.searchsorted([step.time for step in steps], times, side="right") - 1
    since = times - np.array([step.time for step in steps])[which]
    velocity = np.array([step.velocity for step in steps])[which]
    moving = (since < period)[:, None]
    begin, target = (np.array(values)[which] for values in zip(*((s.begin, s.target) for s in steps), strict=True))
    positions = np.where(moving, begin + velocity * since[:, None], target)
    return Motion(times, positions, _smoothed(velocity, since, period))


def _smoothed(velocity: Array, since: Array, period: float) -> Array:
    """A message within the jitter does not make the reference stop and go."""
    result: Array = np.where((since <= (1.0 + LATE) * period)[:, None], velocity, 0.0)
    return result
