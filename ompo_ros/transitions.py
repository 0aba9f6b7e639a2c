"""Transitions: the form of experience in collectors, messages and the learner's buffers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]
UInt32Array = NDArray[np.uint32]
BoolArray = NDArray[np.bool_]

_FLOAT32, _UINT32, _BOOL = np.dtype(np.float32), np.dtype(np.uint32), np.dtype(np.bool_)
_ROUNDING = 1e-6  # of an action


class InvalidData(ValueError):
    """Data from outside that cannot be used; `field` names what was wrong. Nothing of it was kept."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class Origin(IntEnum):
    """Who made a transition: a policy in a simulated source, a policy on the target, or a demonstrator."""

    SOURCE = 0
    TARGET = 1
    DEMONSTRATION = 2


@dataclass(frozen=True)
class Transitions:
    """`n` transitions of one collector, checked when made: types, shapes and finite values."""

    origin: Origin
    obs: Float32Array  # (n, obs_dim)
    action: Float32Array  # (n, act_dim)
    reward: Float32Array  # (n,)
    next_obs: Float32Array  # (n, obs_dim)
    terminated: BoolArray  # (n,) the task itself ended: there is no value beyond
    truncated: BoolArray  # (n,) the time limit was reached: there is a value beyond
    step: UInt32Array  # (n,) index within its episode; 0 marks an initial state
    policy_version: UInt32Array  # (n,) the policy that chose the action
    domain_id: UInt32Array  # (n,) the dynamics in force
    command: Float32Array | None = None  # (n, act_dim) joint positions sent to a driver; None if there was none

    def __post_init__(self) -> None:
        for name in ("obs", "action"):
            shape = getattr(self, name).shape
            if len(shape) != 2 or 0 in shape:
                raise InvalidData(name, f"has shape {shape}, (transitions, values) with at least one each is needed")
        n, obs_dim = self.obs.shape
        _require_floats("obs", self.obs, (n, obs_dim))
        _require_floats("action", self.action, (n, self.action.shape[1]))
        _require_floats("reward", self.reward, (n,))
        _require_floats("next_obs", self.next_obs, (n, obs_dim))
        for name in ("terminated", "truncated"):
            _require_array(name, getattr(self, name), _BOOL, (n,))
        for name in ("step", "policy_version", "domain_id"):
            _require_array(name, getattr(self, name), _UINT32, (n,))
        if self.command is not None:
            _require_floats("command", self.command, self.action.shape)

    def __len__(self) -> int:
        return int(self.obs.shape[0])

    @property
    def obs_dim(self) -> int:
        return int(self.obs.shape[1])

    @property
    def act_dim(self) -> int:
        return int(self.action.shape[1])


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits of a task's values; a transition beyond them would spoil the networks."""

    obs: Float32Array  # (obs_dim,) greatest magnitude of each value
    reward: tuple[float, float]
    act_dim: int
    action: float  # greatest magnitude

    def check(self, transitions: Transitions) -> None:
        """Raise InvalidData with the field's name if a value is out of bounds; one pass over the data."""
        for name, rows in (("obs", transitions.obs), ("next_obs", transitions.next_obs)):
            if rows.shape[1:] != self.obs.shape:
                raise InvalidData(name, f"has {rows.shape[1]} dimensions, {len(self.obs)} are needed")
            greatest = np.maximum(rows.max(0), -rows.min(0))
            if (greatest > self.obs).any():
                place = int(np.argmax(greatest > self.obs))
                raise InvalidData(
                    name, f"reaches {greatest[place]:g} in value {place}, {self.obs[place]:g} is possible"
                )
        if transitions.act_dim != self.act_dim:
            raise InvalidData("action", f"has {transitions.act_dim} dimensions, {self.act_dim} are needed")
        if (farthest := np.abs(transitions.action).max()) > self.action + _ROUNDING:
            raise InvalidData("action", f"reaches {farthest:g}, {self.action:g} is possible")
        (low, high), least, most = self.reward, transitions.reward.min(), transitions.reward.max()
        if least < low or most > high:
            raise InvalidData("reward", f"goes from {least:g} to {most:g}, {low:g} to {high:g} is possible")


def _require_array(name: str, values: NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if values.dtype != dtype:
        raise InvalidData(name, f"is {values.dtype}, {dtype} is needed")
    if values.shape != shape:
        raise InvalidData(name, f"has shape {values.shape}, {shape} is needed")


def _require_floats(name: str, values: Float32Array, shape: tuple[int, ...]) -> None:
    _require_array(name, values, _FLOAT32, shape)
    # A finite sum of squares proves every value finite, at a fraction of the cost of testing each.
    if math.isfinite(np.vdot(values, values)):
        return
    finite = np.isfinite(values)
    if not finite.all():
        first = np.unravel_index(int(np.argmin(finite)), values.shape)
        raise InvalidData(name, f"is not finite at index {tuple(int(i) for i in first)}")
