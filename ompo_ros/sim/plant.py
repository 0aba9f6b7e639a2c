"""The interface of a simulator of Pandas; MuJoCo and PyBullet implement it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ompo_ros.sim.parameters import Arms, DomainValues
from ompo_ros.task.kinematics import FloatArray

ImageArray = NDArray[np.uint8]


class Plant(Protocol):
    """N arms under position control. `q`, `dq` (n, 7) and `cube` (n, 3) hold the true current state."""

    q: FloatArray
    dq: FloatArray
    cube: FloatArray
    timestep: float

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse parameters this simulator cannot express."""

    def apply(self, arms: Arms, values: DomainValues) -> None:
        """Apply the dynamics parameters of `arms`."""

    def reset(self, arms: Arms, posture: FloatArray, cube: FloatArray) -> None:
        """Place `arms` at rest in `posture` (n, 7), their cubes at `cube` (n, 3)."""

    def advance(self, targets: FloatArray, substeps: int) -> None:
        """Hold the position commands (n, 7) for `substeps` timesteps."""

    def render(self, goal: FloatArray) -> ImageArray:
        """Picture the first arm and its goal (3,)."""

    def close(self) -> None: ...
