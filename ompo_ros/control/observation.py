"""Observations from a robot's joint states, which are mapped by name and checked before use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ompo_ros.task.kinematics import FloatArray, end_effector_position
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import Float32Array, Task


class BadJointState(ValueError):
    """A joint state that cannot be used; the message says what is wrong and what is expected."""


class ForeignJointState(BadJointState):
    """Joint states of another device on the topic, such as a gripper: not a fault of the arm."""


class JointStateReader:
    """Picks the arm's joints out of joint states by their names."""

    def __init__(self, robot: Robot) -> None:
        self._joint_names = robot.joint_names
        self._names: tuple[str, ...] = ()
        self._index: list[int] = []

    def read(
        self, names: Sequence[str], position: Sequence[float], velocity: Sequence[float]
    ) -> tuple[FloatArray, FloatArray]:
        """Positions and velocities (7,) in the robot's order."""
        if tuple(names) != self._names:
            self._index = self._places(list(names))
            self._names = tuple(names)
        return self._pick("position", position), self._pick("velocity", velocity)

    def efforts(self, values: Sequence[float]) -> FloatArray | None:
        """The efforts (7,) of the state read last; None where the driver does not measure all of them."""
        if len(values) != len(self._names):
            return None
        picked: FloatArray = np.asarray(values, dtype=np.float64)[self._index]
        return picked if np.isfinite(picked).all() else None

    def _places(self, names: list[str]) -> list[int]:
        missing = [name for name in self._joint_names if name not in names]
        if missing:
            expected = f"the robot preset expects {', '.join(self._joint_names)}: check the parameter `robot`"
            if len(missing) == len(self._joint_names):
                raise ForeignJointState(f"joint_states name {', '.join(names) or 'nothing'}; {expected}")
            raise BadJointState(f"joint_states lack {', '.join(missing)}; {expected}")
        if len(set(names)) != len(names):
            raise BadJointState(f"joint_states name a joint twice: {', '.join(names)}")
        return [names.index(name) for name in self._joint_names]

    def _pick(self, field: str, values: Sequence[float]) -> FloatArray:
        if len(values) != len(self._names):
            raise BadJointState(f"joint_states.{field} holds {len(values)} values for {len(self._names)} names")
        picked: FloatArray = np.asarray(values, dtype=np.float64)[self._index]
        if not np.isfinite(picked).all():
            bad = [name for name, ok in zip(self._joint_names, np.isfinite(picked), strict=True) if not ok]
            raise BadJointState(f"joint_states.{field} is not finite for {', '.join(bad)}")
        return picked


def observe(task: Task, position: FloatArray, velocity: FloatArray, cube: FloatArray, goal: FloatArray) -> Float32Array:
    """Build one observation in the contract's order; `cube` is used only if the task has one."""
    return task.observation(position, velocity, end_effector_position(position), cube, goal)
