"""The motion of a joint trajectory controller with `interpolate_from_desired_state`.

A new message starts from the desired state at that moment. Earlier points are skipped, and a message that is already
over is dropped. Between points the motion is quintic, cubic where accelerations are missing, linear where
velocities are missing too; after the last point it holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ompo_ros.experiments.campaign.commands import TICK, Command, Motion, Point
from ompo_ros.experiments.campaign.limits import Array

_BEFORE = 4  # samples of rest before the first message, so that a jump of its first sample shows in every difference
_REST = 1e-6  # rad/s; the controller refuses a trajectory that ends faster


@dataclass(frozen=True)
class _Segment:
    """A polynomial from `begin` to `end` (s): coefficients (6, 7), lowest power first."""

    begin: float
    end: float
    coefficients: Array

    def state(self, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (7,) at a time."""
        t, c = time - self.begin, self.coefficients
        powers = t ** np.arange(6)
        orders = np.arange(6)[:, None]
        velocity = powers[:5] @ (c * orders)[1:]
        acceleration = powers[:4] @ (c * orders * (orders - 1))[2:]
        return powers @ c, velocity, acceleration

    def positions(self, times: Array) -> Array:
        result: Array = np.vander(times - self.begin, 6, increasing=True) @ self.coefficients
        return result


def follow_trajectories(commands: Sequence[Command], start: Array, until: float) -> Motion:
    """Give the motion from just before the first command to `until`, from rest at `start` (7,)."""
    heard = sorted(commands, key=lambda command: command.received)
    if not heard:
        return Motion(np.zeros(0), np.zeros((0, start.size)), np.zeros((0, start.size)))
    ticks = [math.ceil(command.received / TICK) for command in heard]
    last = max(math.ceil(until / TICK), ticks[-1] + 1)
    first = (ticks[0] - _BEFORE) * TICK
    plan = [_hold(first, start)]
    times = [_grid(ticks[0] - _BEFORE, ticks[0])]
    positions = [_sample(plan, times[0])]
    for command, tick, following in zip(heard, ticks, [*ticks[1:], last], strict=True):
        plan = _plan_of(command, plan, tick * TICK, following * TICK) or plan
        times.append(_grid(tick, following))
        positions.append(_sample(plan, times[-1]))
    path = np.concatenate(positions)
    velocities = np.diff(path, axis=0, prepend=path[:1]) / TICK
    return Motion(np.concatenate(times), path, velocities)


def _grid(begin: int, end: int) -> Array:
    return np.arange(begin, end, dtype=np.float64) * TICK


def _plan_of(command: Command, plan: list[_Segment], now: float, until: float) -> list[_Segment]:
    """Lay out a message's segments that begin before `until`; empty when the controller refuses it."""
    begins = now if command.starts is None else command.starts
    knots = [begins + point.offset for point in command.points]
    if not knots or knots[-1] <= now or (np.diff(knots) <= 0.0).any():
        return []
    final = command.points[-1].velocity
    if final is not None and np.abs(final).max() > _REST:
        return []
    segments = []
    if now < knots[0]:
        desired = Point(0.0, *_active(plan, now).state(now))
        segments.append(_join(now, desired, knots[0], command.points[0]))
    pairs = zip(knots[:-1], command.points[:-1], knots[1:], command.points[1:], strict=True)
    segments += [_join(begin, a, end, b) for begin, a, end, b in pairs if end > now and begin <= until]
    return [*segments, _hold(knots[-1], command.points[-1].position)]


def _join(begin: float, a: Point, end: float, b: Point) -> _Segment:
    duration = end - begin
    distance = b.position - a.position
    c = np.zeros((6, distance.size))
    c[0] = a.position
    if a.velocity is None or b.velocity is None:
        c[1] = distance / duration
        return _Segment(begin, end, c)
    v0, v1 = a.velocity * duration, b.velocity * duration
    if a.acceleration is None or b.acceleration is None:
        c[1:4] = v0, 3.0 * distance - 2.0 * v0 - v1, v0 + v1 - 2.0 * distance
    else:
        a0, a1 = a.acceleration * duration**2, b.acceleration * duration**2
        rest, turn, bend = distance - v0 - a0 / 2.0, v1 - v0 - a0, a1 - a0
        c[1:3] = v0, a0 / 2.0
        c[3] = 10.0 * rest - 4.0 * turn + bend / 2.0
        c[4] = -15.0 * rest + 7.0 * turn - bend
        c[5] = 6.0 * rest - 3.0 * turn + bend / 2.0
    return _Segment(begin, end, c / (duration ** np.arange(6))[:, None])


def _hold(begin: float, position: Array) -> _Segment:
    return _Segment(begin, math.inf, np.vstack((position, np.zeros((5, position.size)))))


def _active(plan: list[_Segment], time: float) -> _Segment:
    return next(segment for segment in plan if time < segment.end)


def _sample(plan: list[_Segment], times: Array) -> Array:
    which = np.searchsorted([segment.end for segment in plan], times, side="right")
    result = np.empty((times.size, plan[0].coefficients.shape[1]))
    for index in np.unique(which):
        inside = which == index
        result[inside] = plan[index].positions(times[inside])
    return result
