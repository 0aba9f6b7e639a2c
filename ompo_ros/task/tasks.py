"""Reach and push for N arms at once: contract, goals, and reward and success as functions of the observation.

A real arm can therefore compute its own reward, and both simulators share this code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.task.contract import Contract, Signal
from ompo_ros.task.kinematics import JOINT_NAMES, FloatArray
from ompo_ros.task.robot import Robot

Float32Array = NDArray[np.float32]

TASKS: Final = ("reach", "push")
REWARDS: Final = ("dense", "sparse")
CONTROL_RATE: Final = 25.0  # Hz
EPISODE_STEPS: Final = 50  # of reach
PUSH_EPISODE_STEPS: Final = 100  # the slowest arms of the randomized source need 2 s to get behind the cube
INCREMENT: Final = 0.05  # rad that an action of 1 adds to a joint's measured position
SUCCESS_DISTANCE: Final = 0.05  # m
FARTHEST: Final = 1.9  # m; dense rewards stop falling here, beyond any distance of arm and goal
CUBE_HALF: Final = 0.02  # m
TOUCHING: Final = 0.06  # m from the hand's point to the cube's centre; fingers reach 20 mm to the side
EE_TO_CUBE_WEIGHT: Final = 0.5  # an untouched cube gives no gradient, so the dense push also rewards approaching it

FAMILIES: Final = ("panda", "fr3")  # arms with the Panda's geometry
_AXES: Final = ("x", "y", "z")
_REACH_GOALS: Final = (np.array([0.45, -0.15, 0.0]), np.array([0.75, 0.15, 0.3]))
_PUSH_GOALS: Final = (np.array([0.45, -0.15, CUBE_HALF]), np.array([0.75, 0.15, CUBE_HALF]))


@dataclass(frozen=True)
class Task:
    """One task: goals, observations and rewards."""

    name: str
    reward: str
    contract: Contract = field(init=False, compare=False)  # on the Panda

    def __post_init__(self) -> None:
        if self.name not in TASKS:
            raise ValueError(f"task {self.name!r} is unknown, choose {' or '.join(TASKS)}")
        if self.reward not in REWARDS:
            raise ValueError(f"reward {self.reward!r} is unknown, choose {' or '.join(REWARDS)}")
        object.__setattr__(self, "contract", _contract(self, "panda", JOINT_NAMES, CONTROL_RATE))

    def on(self, robot: Robot) -> Contract:
        """The contract of this task on a robot: the preset's joints in its order, at its rate."""
        if robot.family not in FAMILIES:
            raise ValueError(f"joints {robot.joint_names[0]!r} ... are of an unknown arm, known: {', '.join(FAMILIES)}")
        return _contract(self, robot.family, robot.joint_names, robot.control_rate)

    @property
    def has_cube(self) -> bool:
        return self.name == "push"

    @property
    def episode_steps(self) -> int:
        return PUSH_EPISODE_STEPS if self.has_cube else EPISODE_STEPS

    @property
    def goal_box(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest corner (3,) of the goals' box, in the base frame."""
        return _PUSH_GOALS if self.has_cube else _REACH_GOALS

    def excluded_goals(self, robot: Robot) -> str:
        """Say which of the task's goals lie outside a preset's workspace, where the arm never gets; empty for none."""
        low, high = self.goal_box
        inner_low, inner_high = np.maximum(low, robot.workspace_low), np.minimum(high, robot.workspace_high)
        if (inner_low <= low).all() and (inner_high >= high).all():
            return ""
        box = ", ".join(f"{axis} {a:g} to {b:g}" for axis, a, b in zip(_AXES, low, high, strict=True))
        if (inner_low > inner_high).any():
            left = "all of it: no goal can be reached"
        else:
            sides = high > low  # a cube's goals lie in a plane
            share = 1.0 - float(np.prod((inner_high - inner_low)[sides] / (high - low)[sides]))
            left = f"{share:.0%} of it: goals there are missed"
        return (
            f"the goals of {self.name} lie in {box} m, and the workspace of robot {robot.name} leaves out {left}; "
            "widen workspace_low and workspace_high in its preset, or send goals within them"
        )

    def goals(self, uniform: FloatArray) -> FloatArray:
        """Place goals (n, 3) in the base frame from uniform numbers (n, 3) in [0, 1)."""
        low, high = self.goal_box
        return np.asarray(low + (high - low) * uniform)

    def cubes(self, uniform: FloatArray) -> FloatArray:
        """Place the cubes (n, 3) at the start, from uniform numbers (n, 3)."""
        low, high = _PUSH_GOALS
        return np.asarray(low + (high - low) * uniform)

    def observation(
        self, q: FloatArray, dq: FloatArray, end_effector: FloatArray, cube: FloatArray, goal: FloatArray
    ) -> Float32Array:
        """Assemble observations (n, size) in the contract's order."""
        parts = [q, dq, end_effector, cube, goal] if self.has_cube else [q, dq, end_effector, goal]
        return np.concatenate(parts, axis=-1, dtype=np.float32)

    def distance(self, obs: Float32Array) -> Float32Array:
        """Distance in metres from the end effector (reach) or the cube (push) to its goal."""
        return _norm(obs[..., self._cube if self.has_cube else self._end_effector] - obs[..., self._goal])

    def is_success(self, obs: Float32Array) -> NDArray[np.bool_]:
        return self.distance(obs) < SUCCESS_DISTANCE

    def rewards(self, obs: Float32Array) -> Float32Array:
        """The reward for reaching `obs`."""
        if self.reward == "sparse":
            missed: Float32Array = self.is_success(obs).astype(np.float32) - np.float32(1.0)
            return missed
        distance = self.distance(obs)
        if self.has_cube:
            distance = distance + np.float32(EE_TO_CUBE_WEIGHT) * self._to_cube(obs)
        worth: Float32Array = -np.minimum(distance, np.float32(FARTHEST))
        return worth

    def may_touch(self, obs: Float32Array) -> NDArray[np.bool_]:
        """Whether the hand is so near the cube that forces of contact may move the arm."""
        return self._to_cube(obs) < TOUCHING if self.has_cube else np.zeros(obs.shape[:-1], dtype=np.bool_)

    def _to_cube(self, obs: Float32Array) -> Float32Array:
        return _norm(obs[..., self._end_effector] - obs[..., self._cube])

    @cached_property
    def _end_effector(self) -> slice:
        return self.contract.slice_of("end_effector_position")

    @cached_property
    def _cube(self) -> slice:
        return self.contract.slice_of("cube_position")

    @cached_property
    def _goal(self) -> slice:
        return self.contract.slice_of("goal")


def _norm(vectors: Float32Array) -> Float32Array:
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    root: Float32Array = np.sqrt(x * x + y * y + z * z)
    return root


def _contract(task: Task, family: str, joint_names: tuple[str, ...], control_rate: float) -> Contract:
    def point(group: str, source: str) -> list[Signal]:
        return [Signal(f"{group}.{axis}", "m", source) for axis in _AXES]

    observation = [Signal(f"position.{name}", "rad", "joint_states.position") for name in joint_names]
    observation += [Signal(f"velocity.{name}", "rad/s", "joint_states.velocity") for name in joint_names]
    observation += point("end_effector_position", "forward kinematics of joint_states.position")
    if task.has_cube:
        observation += point("cube_position", "an object tracker's topic; joint_states cannot tell")
    observation += point("goal", "the task")
    meaning = "added to the joint's measured position, the sum is its position command"
    return Contract(
        robot=family,
        task=f"{task.name}_{task.reward}",
        frame=f"{family}_link0",
        joint_names=joint_names,
        control_rate=control_rate,
        episode_steps=task.episode_steps,
        observation=tuple(observation),
        action=tuple(Signal(f"increment.{name}", "rad", meaning, INCREMENT) for name in joint_names),
        action_limit=1.0,
        reward_range=(-FARTHEST if task.reward == "dense" else -1.0, 0.0),
    )
