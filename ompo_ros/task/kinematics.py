"""The Panda's published geometry and limits, and forward kinematics in plain numpy."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

JOINT_NAMES: Final = tuple(f"panda_joint{i}" for i in range(1, 8))
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

_HAND_TURN: Final = np.sqrt(0.5)  # the hand is mounted at 45 degrees

# Spheres around the parts that may hit the table: the frame (joints before it), the centre, the radius.
# The hand reaches 0.102 m to either side and 0.066 m from the flange, closed fingers 20 mm to either side and 7 mm
# beyond the point between their tips.
_SPHERES: Final = (
    ("end effector", 7, (0.0, 0.0, _FLANGE + _END_EFFECTOR), 0.0),
    ("left fingertip", 7, (0.015 * _HAND_TURN, 0.015 * _HAND_TURN, _FLANGE + 0.102), 0.016),
    ("right fingertip", 7, (-0.015 * _HAND_TURN, -0.015 * _HAND_TURN, _FLANGE + 0.102), 0.016),
    ("hand", 7, (0.0, 0.0, _FLANGE + 0.035), 0.055),
    ("hand's left end", 7, (0.07 * _HAND_TURN, 0.07 * _HAND_TURN, _FLANGE + 0.035), 0.055),
    ("hand's right end", 7, (-0.07 * _HAND_TURN, -0.07 * _HAND_TURN, _FLANGE + 0.035), 0.055),
    ("flange", 7, (0.0, 0.0, 0.05), 0.075),
    ("wrist", 6, (0.0, 0.0, -0.015), 0.1),
    ("elbow", 4, (0.0, 0.0, 0.0), 0.12),
)
SPHERE_NAMES: Final = tuple(name for name, *_ in _SPHERES)
SPHERE_RADII: Final[FloatArray] = np.array([radius for *_, radius in _SPHERES])
_SPHERE_CENTRES: Final[FloatArray] = np.array([centre for _, _, centre, _ in _SPHERES])
_SPHERE_COUNTS: Final = tuple(sum(frame > joint for _, frame, *_ in _SPHERES) for joint in range(7))


def end_effector_position(q: FloatArray) -> FloatArray:
    """Point between the fingertips in the base frame for joint positions (..., 7).

    Elementwise throughout, so that a row's result does not depend on the number of rows.
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


def sphere_centres(q: FloatArray) -> FloatArray:
    """Centres (..., spheres, 3) of the arm's spheres in the base frame for joint positions (..., 7)."""
    q = np.ascontiguousarray(q, dtype=np.float64)
    cos, sin = np.cos(q), np.sin(q)
    x, y, z = (np.zeros((*q.shape[:-1], len(_SPHERES))) + _SPHERE_CENTRES[:, axis] for axis in range(3))
    for joint in range(6, -1, -1):
        n, turns = _SPHERE_COUNTS[joint], _QUARTER_TURNS[joint]  # spheres of the frames beyond this joint come first
        c, s = cos[..., joint, None], sin[..., joint, None]
        px, py, pz = x[..., :n], y[..., :n], z[..., :n]
        px, py, pz = c * px - s * py + _A[joint], s * px + c * py, pz + _D[joint]
        x[..., :n], y[..., :n], z[..., :n] = (px, -turns * pz, turns * py) if turns else (px, py, pz)
    return np.stack((x, y, z), axis=-1)


def hand_jacobian(q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For joint positions (n, 7) how the hand moves with each joint.

    Returns the derivatives (n, 3, 7) of the point between the fingertips and of the hand's axis, and the orientation
    (n, 3, 3) of the last frame, whose third column is that axis.
    """
    cos, sin = np.cos(q)[..., None], np.sin(q)[..., None]
    rotation: FloatArray = np.tile(np.eye(3), (len(q), 1, 1))
    origin: FloatArray = np.zeros((len(q), 3))
    axes, origins = [], []
    for joint in range(7):
        x, y, z = np.moveaxis(rotation, 2, 0)
        if _QUARTER_TURNS[joint]:
            y, z = _QUARTER_TURNS[joint] * z, -_QUARTER_TURNS[joint] * y
        origin = origin + _A[joint] * x + _D[joint] * z
        c, s = cos[:, joint], sin[:, joint]
        rotation = np.stack((c * x + s * y, c * y - s * x, z), axis=2)
        axes.append(z)
        origins.append(origin)
    axis = rotation[:, :, 2]
    point = origin + (_FLANGE + _END_EFFECTOR) * axis
    turns = np.stack(axes, axis=1)
    of_point = np.cross(turns, point[:, None] - np.stack(origins, axis=1))
    return np.swapaxes(of_point, 1, 2), np.swapaxes(np.cross(turns, axis[:, None]), 1, 2), rotation
