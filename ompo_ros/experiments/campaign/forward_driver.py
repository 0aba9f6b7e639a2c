"""The motion of a forward command controller: straight to each setpoint within one period, then it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ompo_ros.experiments.campaign.commands import TICK, Command, Motion
from ompo_ros.experiments.campaign.limits import Array

JITTER = 0.15  # periods by which the time of a message heard over a network differs from its tick's
ARRIVED = 0.75  # share of a period after which a setpoint counts as reached
LATE = 0.25  # share of a period by which a setpoint may be late and still find the arm moving

_STORIES = 6  # readings that are followed at the same time
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

    def suddenness(self, acceleration: Array) -> float:
        """The needed acceleration as a multiple of the limit."""
        return float((np.abs(self.velocity - self.velocity_before) / (acceleration * self.elapsed)).max())


def follow_setpoints(
    commands: Sequence[Command], start: Array, period: float, acceleration: Array, jitter: float
) -> list[Step]:
    """Turn setpoints into steps, from rest at `start` (7,); times are known up to `jitter` periods.

    If the times allow several readings (the arm had arrived, or had stopped), the mildest one counts.
    """
    still = np.zeros_like(start)
    stories = [_Story(0.0, (Step(-np.inf, start, start, still, still, period), None))]
    for command in sorted(commands, key=lambda command: command.received):
        told = [
            _Story(story.excess + max(step.suddenness(acceleration) - 1.0, 0.0), (step, story))
            for story in stories
            for step in _readings(story.last[0], command, period, jitter)
        ]
        stories = sorted(told, key=lambda story: story.excess)[:_STORIES]
    return stories[0].steps()[1:]


@dataclass(frozen=True)
class _Story:
    """One reading of all times so far, and its excess of the limits; the last step and the reading before."""

    excess: float
    last: tuple[Step, _Story | None]

    def steps(self) -> list[Step]:
        steps, story = [], self
        while True:
            step, before = story.last
            steps.append(step)
            if before is None:
                return steps[::-1]
            story = before


def _readings(before: Step, command: Command, period: float, jitter: float) -> list[Step]:
    now, target = command.received, command.points[0].position
    share = min((now - before.time) / period, _LONG)
    elapsed = share + jitter if share + jitter < ARRIVED else 1.0
    begins = [before.target] if share + jitter >= ARRIVED else []
    if share - jitter < ARRIVED:
        shares = sorted({max(share - jitter, 0.0), share, share + jitter})
        begins += [before.begin + before.velocity * min(reading, 1.0) * period for reading in shares]
    # A held setpoint stops at once, as the driver does. A motion after it starts from rest.
    velocities = [before.velocity] if share - jitter <= 1.0 + LATE else []
    if share + jitter > 1.0 + LATE:
        velocities.append(np.zeros_like(target))
    return [
        Step(now, begin, target, (target - begin) / period, velocity, elapsed * period)
        for begin in begins
        for velocity in velocities
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
