"""A user's goal and the attempts at it; an attempt counts if no stop, policy change or new goal interrupts it."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.episode import EpisodeRecorder, PlayedEpisode
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Float32Array, Task

_TOLERANCE: Final = 1e-3  # m that a goal may lie outside the task's box


class Attempts:
    """Counts attempts and successes; at most one attempt is under way."""

    def __init__(self, task: Task, goal: FloatArray) -> None:
        self._task = task
        self.goal = check_goal(task, goal)
        self._attempt: EpisodeRecorder | None = None
        self._made = self._successes = 0

    def aim(self, goal: FloatArray) -> None:
        """Set another goal (3,), or raise ValueError and keep the last one."""
        self.goal = check_goal(self._task, goal)
        self._attempt = None

    def begin(self) -> None:
        """Begin an attempt at the goal."""
        self._attempt = EpisodeRecorder(self._task, deterministic=True)

    def abandon(self) -> None:
        """Drop the current attempt: it is not counted."""
        self._attempt = None

    def observe(self, obs: Float32Array) -> PlayedEpisode | None:
        """Add an observation; returns the attempt when its time is over."""
        if self._attempt is None or not self._attempt.observe(obs):
            return None
        finished, self._attempt = self._attempt.finish(), None
        self._made += 1
        self._successes += finished.success
        return finished

    def act(self, action: FloatArray, policy_version: int) -> None:
        """Note the action chosen at the last observation."""
        if self._attempt is not None:
            self._attempt.act(action.astype(np.float32), policy_version)

    def figures(self) -> dict[str, str | int]:
        return {
            "goal": " ".join(f"{x:.3f}" for x in self.goal),
            "attempts": self._made,
            "successes": self._successes,
        }


def check_goal(task: Task, goal: FloatArray) -> FloatArray:
    """Return the goal (3,) if it is inside the task's box; otherwise ValueError names the box."""
    low, high = task.goal_box
    if goal.shape != (3,) or not np.isfinite(goal).all():
        raise ValueError(f"goal {goal.tolist()}: three finite coordinates are needed")
    if (goal < low - _TOLERANCE).any() or (goal > high + _TOLERANCE).any():
        raise ValueError(
            f"goal {goal.tolist()}: {task.name} has goals from {low.tolist()} to {high.tolist()} m in the base frame"
        )
    return goal
