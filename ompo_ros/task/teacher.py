"""A scripted push. It is a function of the observation alone, so it can correct a learner wherever that gets.

The hand goes over the cube to the side away from the goal, down, and pushes. Joint 7 turns the fingers so that a flat
side of them meets the cube: a corner would slip off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from ompo_ros.task.kinematics import HOME, FloatArray, hand_jacobian
from ompo_ros.task.tasks import INCREMENT, Float32Array

# Lengths in m. The cube's half width is 0.02, the fingers reach 7 mm below the hand's point and 20 mm to the side.
STANDOFF: Final = 0.065  # from the cube's centre, where the hand comes down; at 0.05 fingers landed on its edge
OVER: Final = 0.065  # height of the way over the cube
LOW: Final = 0.02  # height of a push
FUNNEL: Final = (0.02, 2.0)  # nearer than this to the place behind the cube the hand is low; beyond, rise per m
CLEARANCE: Final = (0.04, 0.02)  # the hand moves sideways from this height on, at full speed so much higher
NEAR: Final = 0.03  # of the place behind the cube: sideways motion is safe there at any height
# Ramps, from none to full: a network cannot learn a switch, and the teacher does not need one.
BEHIND: Final = (0.012, 0.024)  # the hand's distance behind the cube, for a push
NOT_TOO_FAR: Final = (0.105, 0.09)
ON_LINE: Final = (0.028, 0.018)  # its distance from the line to the goal
DOWN: Final = (0.032, 0.025)  # its height; fingers that still come down while they push press the cube down
UNFINISHED: Final = (0.03, 0.036)  # the cube's distance from its goal, for any motion
STOP: Final = 0.01  # the distance at which a push would end

FASTEST: Final = 0.4  # m/s of a push
DECELERATION: Final = 0.5  # m/s^2: less than friction takes from a sliding cube
LEAD: Final = 0.07  # s by which commands run ahead of the hand
SPEED_GAIN: Final = 0.15  # s
LONGEST_LEAD: Final = 0.05  # m
SIDE_GAIN: Final = 1.5
POSITION_GAIN: Final = 2.5
DAMPING: Final = 0.03  # s

# Weights of the inverse kinematics: an upright hand and the home posture matter little beside the hand's position.
UPRIGHT: Final = (0.003, 0.3)  # weight, share of the tilt taken back in a step
POSTURE: Final = (0.003, 0.1)
JOINT_COST: Final[FloatArray] = np.array(
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.3, 1.0]
)  # joint 6 has time while 2 is at its limit


Script: TypeAlias = Callable[[Float32Array], Float32Array]


class NoScript(ValueError):
    """A task that no script can demonstrate; the message names those that have one."""


class _Scene(NamedTuple):
    hand: FloatArray  # (n, 3)
    velocity: FloatArray  # (n, 3) of the hand
    offset: FloatArray  # (n, 2) from the cube to the hand
    ahead: FloatArray  # (n, 2) direction from the cube to its goal
    left: FloatArray  # (n, 1) distance from the cube to its goal


def push_actions(obs: Float32Array) -> Float32Array:
    """Actions (n, 7) for observations (n, 23) of push."""
    rows = obs.astype(np.float64)
    q, dq, hand, cube, goal = np.split(rows, (7, 14, 17, 20), axis=1)
    jacobian, tilting, rotation = hand_jacobian(q)
    way = goal[:, :2] - cube[:, :2]
    left = np.linalg.norm(way, axis=1, keepdims=True)
    ahead = way / np.maximum(left, 1e-6)
    scene = _Scene(hand, np.einsum("nij,nj->ni", jacobian, dq), hand[:, :2] - cube[:, :2], ahead, left)
    increments = _joint_steps(q, _hand_step(scene), jacobian, tilting, rotation)
    increments[:, 6] = _turn_left(rotation, ahead)
    actions = increments / INCREMENT
    actions[:, :6] /= np.maximum(np.abs(actions[:, :6]).max(axis=1, keepdims=True), 1.0)
    return (_ramp(left, UNFINISHED) * np.clip(actions, -1.0, 1.0)).astype(np.float32)


def _hand_step(scene: _Scene) -> FloatArray:
    """Where the hand's command leads (n, 3), from the hand."""
    along = (scene.offset * scene.ahead).sum(axis=1, keepdims=True)
    side = scene.offset - along * scene.ahead
    aside = np.linalg.norm(side, axis=1, keepdims=True)
    share = _ramp(-along, BEHIND) * _ramp(-along, NOT_TOO_FAR) * _ramp(aside, ON_LINE) * _ramp(scene.hand[:, 2:], DOWN)
    return np.asarray(share * _push(scene, side) + (1.0 - share) * _go_behind(scene))


def _ramp(values: FloatArray, between: tuple[float, float]) -> FloatArray:
    none, full = between
    return np.clip((values - none) / (full - none), 0.0, 1.0)


def _go_behind(scene: _Scene) -> FloatArray:
    """Over the cube to the place behind it, and down in a funnel."""
    height = scene.hand[:, 2:]
    behind = -STANDOFF * scene.ahead - scene.offset
    far = np.linalg.norm(behind, axis=1, keepdims=True)
    width, slope = FUNNEL
    wanted = np.clip(LOW + slope * (far - width), LOW, OVER)
    lowest, rise = CLEARANCE
    free = np.where(far < NEAR, 1.0, np.clip((height - lowest) / rise, 0.0, 1.0))
    return POSITION_GAIN * (np.concatenate((behind * free, wanted - height), axis=1) - DAMPING * scene.velocity)


def _push(scene: _Scene, side: FloatArray) -> FloatArray:
    """Forward, no faster than the cube can stop at its goal, and back to the line to the goal."""
    speed = (scene.velocity[:, :2] * scene.ahead).sum(axis=1, keepdims=True)
    wanted = np.minimum(FASTEST, np.sqrt(2.0 * DECELERATION * np.maximum(scene.left - STOP, 0.0)))
    forward = np.clip(LEAD * wanted + SPEED_GAIN * (wanted - speed), -LONGEST_LEAD, LONGEST_LEAD)
    return np.concatenate((scene.ahead * forward - SIDE_GAIN * side, POSITION_GAIN * (LOW - scene.hand[:, 2:])), axis=1)


def _joint_steps(
    q: FloatArray, step: FloatArray, jacobian: FloatArray, tilting: FloatArray, rotation: FloatArray
) -> FloatArray:
    """Joint steps (n, 7) for the hand's step: damped least squares."""
    upright, righting = UPRIGHT
    posture, returning = POSTURE
    tilt, lean = tilting[:, :2], rotation[:, :2, 2]
    normal = np.einsum("nij,nik->njk", jacobian, jacobian) + upright * np.einsum("nij,nik->njk", tilt, tilt)
    wanted = np.einsum("nij,ni->nj", jacobian, step) - upright * righting * np.einsum("nij,ni->nj", tilt, lean)
    wanted += posture * returning * JOINT_COST * (HOME - q)
    return np.asarray(np.linalg.solve(normal + posture * np.diag(JOINT_COST), wanted[..., None])[..., 0])


def _turn_left(rotation: FloatArray, ahead: FloatArray) -> FloatArray:
    """How far joint 7 has to turn until a side of the fingers faces ahead: at most an eighth of a turn."""
    across = rotation[:, :2, 0] + rotation[:, :2, 1]  # the hand is mounted at 45 degrees
    angle = np.arctan2(across[:, 1], across[:, 0]) - np.arctan2(ahead[:, 1], ahead[:, 0])
    return np.asarray((angle + np.pi / 4) % (np.pi / 2) - np.pi / 4)


SCRIPTS: Final[Mapping[str, Script]] = {"push": push_actions}


def script_of(task: str) -> Script:
    """The script that demonstrates a task: actions (n, 7) for observations (n, size)."""
    if task not in SCRIPTS:
        raise NoScript(f"scripted_episodes: no script demonstrates {task}, only {', '.join(SCRIPTS)}")
    return SCRIPTS[task]
