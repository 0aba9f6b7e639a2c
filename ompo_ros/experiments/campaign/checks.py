"""Checks a reconstructed motion against the arm's limits, and for braking after a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ompo_ros.experiments.campaign.commands import TICK, Command, Motion
from ompo_ros.experiments.campaign.forward_driver import JITTER, Step, follow_setpoints, sample
from ompo_ros.experiments.campaign.limits import Array, Limits
from ompo_ros.experiments.campaign.trajectory_driver import follow_trajectories

SHARE = 0.02  # tolerance of velocities and accelerations, since finite differences are not exact
JERK_SHARE = 0.1
POSITION_SLACK = 1e-4  # rad
HOLD_WITHIN = 0.1  # s from a fault until the arm must be braking
_REST = 0.02  # rad/s; slower counts as standing
_ONE_EVENT = 0.25  # s; excesses of one kind within it are one violation, longer ones are several


@dataclass(frozen=True)
class Violation:
    """A limit exceeded once: when, which, by which joint, and how many times the limit was reached at worst."""

    time: float
    kind: str
    joint: int
    ratio: float


def reconstruct(
    commands: Sequence[Command], start: Array, limits: Limits, until: float, jitter: float = JITTER
) -> tuple[Motion, list[Violation]]:
    """Reconstruct the driver's motion for a launch's commands, and find every exceeded limit.

    Setpoints carry no time; their arrival is known up to `jitter` periods.
    """
    if limits.is_trajectory:
        motion = follow_trajectories(commands, start, until)
        return motion, _position_violations(motion, limits) + _difference_violations(motion, limits)
    steps = follow_setpoints(commands, start, limits.period, limits.acceleration, jitter)
    motion = sample(steps, limits.period, until)
    return motion, _position_violations(motion, limits) + _step_violations(steps, limits)


def brakes_in_time(motion: Motion, begin: float, end: float, period: float) -> bool | None:
    """Whether the arm brakes or stands from 100 ms after a fault's begin; None if the fault ended too soon to judge.

    Speeds are compared a period apart: between two points of a trajectory they ripple.
    """
    due = begin + HOLD_WITHIN
    if end < due + period or not motion.times.size:
        return None
    speed, later = motion.speed_at(due), motion.speed_at(due + period)
    falls = speed <= _REST or later <= max(speed * (1.0 - SHARE), _REST)
    return falls and motion.top_speed_between(due + period, min(end, due + 1.0)) <= speed + _REST


def _position_violations(motion: Motion, limits: Limits) -> list[Violation]:
    if not motion.times.size:
        return []
    middle, half = (limits.position_high + limits.position_low) / 2.0, (limits.position_high - limits.position_low) / 2
    ratios = (np.abs(motion.positions - middle) - POSITION_SLACK) / half
    return _events("position", motion.times, ratios)


def _difference_violations(motion: Motion, limits: Limits) -> list[Violation]:
    """Velocity, acceleration and jerk as finite differences of the samples, one per millisecond."""
    values = np.diff(motion.positions, axis=0) / TICK
    halfway = (motion.positions[1:] + motion.positions[:-1]) / 2.0
    found = _events("velocity", motion.times[1:], limits.velocity_share(halfway, values, SHARE))
    kinds = (("acceleration", limits.acceleration, SHARE, 1e-3), ("jerk", limits.jerk, JERK_SHARE, 1.0))
    for order, (kind, limit, share, noise) in enumerate(kinds, start=2):
        values = np.diff(values, axis=0) / TICK
        ratios = (np.abs(values) - noise) / (limit * (1.0 + share))
        found += _events(kind, motion.times[order:], ratios)
    return found


def _step_violations(steps: Sequence[Step], limits: Limits) -> list[Violation]:
    if not steps:
        return []
    times = np.array([step.time for step in steps])
    velocities = np.array([step.velocity for step in steps])
    targets = np.array([step.target for step in steps])
    changes = velocities - np.array([step.velocity_before for step in steps])
    allowed = limits.acceleration * np.array([step.elapsed for step in steps])[:, None]
    fast = limits.velocity_share(targets, velocities, SHARE)
    sudden = (np.abs(changes) - 1e-6) / (allowed * (1.0 + SHARE))
    return _events("velocity", times, fast) + _events("acceleration", times, sudden)


def _events(kind: str, times: Array, ratios: Array) -> list[Violation]:
    """One violation for each quarter of a second with an excess; NaN exceeds every limit."""
    ratios = np.where(np.isfinite(ratios), ratios, np.inf)
    exceeding = np.flatnonzero((ratios > 1.0).any(axis=1))
    events = []
    while exceeding.size:
        together = times[exceeding] <= times[exceeding[0]] + _ONE_EVENT
        worst = ratios[exceeding[together]].max(axis=0)
        events.append(Violation(float(times[exceeding[0]]), kind, int(worst.argmax()), float(worst.max())))
        exceeding = exceeding[~together]
    return events
