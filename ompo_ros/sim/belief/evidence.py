"""Recorded control steps of the target: state, command, and state one control step later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData, Transitions

IntArray = NDArray[np.int64]

FEWEST: Final = 25  # transitions before anything is fitted
CAPACITY: Final = 3000  # newest transitions that are kept
_FARTHEST: Final = 10.0  # rad; no joint of an arm turns so far
_HELD_OUT: Final = 8  # one transition in so many is held out


@dataclass(frozen=True)
class Rows:
    """Control steps with the command in force, which was sent `delay` steps before."""

    state: FloatArray  # (n, 14) measured positions and velocities before
    after: FloatArray  # (n, 14) and after
    origin: FloatArray  # (n, 7) measured position when the command in force was made
    command: FloatArray  # (n, 7) that command
    weight: FloatArray  # (n,)

    def __len__(self) -> int:
        return len(self.state)

    def take(self, chosen: IntArray) -> Rows:
        return Rows(*(getattr(self, name)[chosen] for name in ("state", "after", "origin", "command", "weight")))


class Evidence:
    """The newest transitions of a target, each with the command that was sent."""

    def __init__(self, task: Task) -> None:
        self._task = task
        nothing: FloatArray = np.zeros((0, 2 * JOINTS))
        self._rows = Rows(nothing, nothing, nothing[:, :JOINTS], nothing[:, :JOINTS], np.zeros(0))
        self._index: IntArray = np.zeros(0, dtype=np.int64)  # of each transition since the beginning
        self._step: IntArray = np.zeros(0, dtype=np.int64)  # index within a recording without gaps
        self._free: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)  # whether nothing but the drives moved the arm
        self.seen = 0
        self.half_life = np.inf  # transitions after which the weight of evidence is halved

    def add(self, transitions: Transitions) -> None:
        """Add transitions in the order they were made; InvalidData if states or commands are missing or impossible."""
        if transitions.command is None:
            raise InvalidData("command", "is missing: a belief needs the positions sent to the driver")
        if (size := transitions.obs_dim) != (needed := self._task.contract.observation_size):
            raise InvalidData("obs", f"has {size} dimensions, {needed} are needed")
        if (size := transitions.act_dim) != JOINTS:
            raise InvalidData("command", f"has {size} dimensions, {JOINTS} are needed")
        if (farthest := np.abs(transitions.command).max()) > _FARTHEST:
            raise InvalidData("command", f"reaches {farthest:g} rad, {_FARTHEST:g} is possible")
        state = transitions.obs[:, : 2 * JOINTS].astype(np.float64)
        after = transitions.next_obs[:, : 2 * JOINTS].astype(np.float64)
        step = _steps_in_a_piece(transitions)
        command = transitions.command.astype(np.float64)
        new = Rows(state, after, state[:, :JOINTS], command, np.ones(len(state)))
        names = ("state", "after", "origin", "command", "weight")
        joined = (np.concatenate((getattr(self._rows, name), getattr(new, name)))[-CAPACITY:] for name in names)
        self._rows = Rows(*joined)
        self._index = np.append(self._index, self.seen + np.arange(len(state)))[-CAPACITY:]
        self._step = np.append(self._step, step)[-CAPACITY:]
        touched = self._task.may_touch(transitions.obs) | self._task.may_touch(transitions.next_obs)
        self._free = np.append(self._free, ~touched)[-CAPACITY:]
        self.seen += len(state)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is kept, for `restore`."""
        rows = self._rows
        return {
            "state": rows.state,
            "after": rows.after,
            "command": rows.command,
            "step": self._step,
            "free": self._free,
            "seen": np.array(self.seen),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace everything by what `arrays` gave; ValueError if it cannot be that, and nothing is changed."""
        seen, n = int(arrays["seen"]), len(arrays["state"])
        if not 0 <= n <= min(seen, CAPACITY):
            raise ValueError(f"{n} steps of {seen} are impossible")
        state, after = (numbers(arrays, name, (n, 2 * JOINTS)) for name in ("state", "after"))
        command, step = numbers(arrays, "command", (n, JOINTS)), numbers(arrays, "step", (n,))
        free = numbers(arrays, "free", (n,))
        self._rows = Rows(state, after, state[:, :JOINTS], command, np.ones(n))
        self._index = seen - n + np.arange(n)
        self._step, self._free, self.seen = step.astype(np.int64), free.astype(np.bool_), seen

    def rows(self, delay: int, *, held_out: bool) -> Rows:
        """The steps to fit, or the held-out ones, if commands act `delay` control steps later.

        Steps in free air, once there are enough: the simulation that is fitted has no cube.
        """
        apart = self._index % _HELD_OUT == _HELD_OUT // 2
        known = (self._step >= delay) & (np.arange(len(self._step)) >= delay)
        if self._free.sum() >= FEWEST:
            known &= self._free
        chosen = np.flatnonzero(known & (apart if held_out else ~apart))
        age = self.seen - self._index[chosen]
        rows = self._rows.take(chosen)
        before = self._rows.take(chosen - delay)
        weight = 0.5 ** (age / self.half_life)
        return replace(rows, origin=before.origin, command=before.command, weight=weight)


def numbers(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> FloatArray:
    """An array of a file as finite numbers of this shape; ValueError otherwise."""
    values = arrays[name].astype(np.float64, casting="safe")
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"{name} is not {shape} finite numbers")
    return values


def _steps_in_a_piece(transitions: Transitions) -> IntArray:
    """Count the steps since the last gap."""
    step = transitions.step.astype(np.int64)
    begins = np.ones(len(step), dtype=np.bool_)
    begins[1:] = step[1:] != step[:-1] + 1
    first = np.maximum.accumulate(np.where(begins, np.arange(len(step)), 0))
    return np.arange(len(step)) - first
