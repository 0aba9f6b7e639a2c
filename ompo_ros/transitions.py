"""The one form in which experience travels: from collectors, over messages, into the learner's buffers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]
UInt32Array = NDArray[np.uint32]
BoolArray = NDArray[np.bool_]


class InvalidData(ValueError):
    """Data from outside that cannot be used; `field` names what was wrong, nothing of it was kept."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class Origin(IntEnum):
    """Whose dynamics produced a transition."""

    SOURCE = 0
    TARGET = 1


@dataclass(frozen=True)
class Transitions:
    """`n` transitions of one collector, checked when made, so that whoever holds one can trust it."""

    origin: Origin
    obs: Float32Array  # (n, obs_dim)
    action: Float32Array  # (n, act_dim)
    reward: Float32Array  # (n,)
    next_obs: Float32Array  # (n, obs_dim)
    terminated: BoolArray  # (n,) the task itself ended: no value beyond
    truncated: BoolArray  # (n,) time ran out: the value goes on beyond
    step: UInt32Array  # (n,) index within its episode; 0 marks an initial state
    policy_version: UInt32Array  # (n,) the policy that chose the action
    domain_id: UInt32Array  # (n,) the dynamics it was made under

    def __post_init__(self) -> None:
        _require_ndim("obs", self.obs, 2)
        _require_ndim("action", self.action, 2)
        n, obs_dim = self.obs.shape
        if n == 0:
            raise InvalidData("obs", "holds no transition, at least one is needed")
        if obs_dim == 0 or self.action.shape[1] == 0:
            raise InvalidData("obs" if obs_dim == 0 else "action", "has no dimension")
        shapes: dict[str, tuple[int, ...]] = {"action": (n, self.action.shape[1]), "next_obs": (n, obs_dim)}
        for name in ("obs", "action", "reward", "next_obs"):
            values = getattr(self, name)
            _require_array(name, values, np.float32, shapes.get(name, values.shape if name == "obs" else (n,)))
            _require_finite(name, values)
        for name in ("terminated", "truncated"):
            _require_array(name, getattr(self, name), np.bool_, (n,))
        for name in ("step", "policy_version", "domain_id"):
            _require_array(name, getattr(self, name), np.uint32, (n,))

    def __len__(self) -> int:
        return int(self.obs.shape[0])

    @property
    def obs_dim(self) -> int:
        return int(self.obs.shape[1])

    @property
    def act_dim(self) -> int:
        return int(self.action.shape[1])


def _require_ndim(name: str, values: NDArray[Any], ndim: int) -> None:
    if values.ndim != ndim:
        raise InvalidData(name, f"has {values.ndim} dimensions, {ndim} are needed")


def _require_array(name: str, values: NDArray[Any], dtype: type, shape: tuple[int, ...]) -> None:
    if values.dtype != dtype:
        raise InvalidData(name, f"is {values.dtype}, {np.dtype(dtype)} is needed")
    if values.shape != shape:
        raise InvalidData(name, f"has shape {values.shape}, {shape} is needed")


def _require_finite(name: str, values: Float32Array) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        first = np.unravel_index(int(np.argmin(finite)), values.shape)
        raise InvalidData(name, f"is not finite at index {tuple(int(i) for i in first)}")
