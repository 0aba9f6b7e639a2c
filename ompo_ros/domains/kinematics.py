"""The Panda's geometry and limits as its maker publishes them, and forward kinematics in numpy alone."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

JOINT_NAMES: Final = tuple(f"panda_joint{i}" for i in range(1, 8))
BASE_FRAME: Final = "panda_link0"
JOINT_LOW: Final[FloatArray] = np.array([-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973])
JOINT_HIGH: Final[FloatArray] = np.array([2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973])
JOINT_SPEED: Final[FloatArray] = np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61])
JOINT_TORQUE: Final[FloatArray] = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
HOME: Final[FloatArray] = np.array([0.0, 0.41, 0.0, -1.85, 0.0, 2.26, 0.79])

# Craig's Denavit-Hartenberg parameters of joints 1 to 7: a and d in metres, alpha as a multiple of pi / 2.
_A: Final = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
_D: Final = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
_QUARTER_TURNS: Final = (0, -1, 1, 1, -1, 1, 1)
_FLANGE: Final = 0.107
_END_EFFECTOR: Final = 0.105  # from the flange to between the fingertips


def end_effector_position(q: FloatArray) -> FloatArray:
    """Point between the fingertips in the base frame for joint positions (..., 7).

    Elementwise throughout, so that a row's result does not depend on how many rows are computed with it.
    """
    q = np.ascontiguousarray(q, dtype=np.float64)
    cos, sin = np.cos(q), np.sin(q)
    x = np.zeros(q.shape[:-1])
    y = np.zeros(q.shape[:-1])
    z = np.full(q.shape[:-1], _FLANGE + _END_EFFECTOR)
    for joint in range(6, -1, -1):
        c, s = cos[..., joint], sin[..., joint]
        x, y, z = c * x - s * y + _A[joint], s * x + c * y, z + _D[joint]
        if _QUARTER_TURNS[joint]:
            y, z = -_QUARTER_TURNS[joint] * z, _QUARTER_TURNS[joint] * y
    return np.stack((x, y, z), axis=-1)
