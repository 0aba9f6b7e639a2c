"""A user's goal and the attempts at it; an attempt counts if no stop, policy change or new goal interrupts it."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.episode import EpisodeRecorder, PlayedEpisode
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Float32Array, Task

UNDER_WAY: Final = "under way"
_TOLERANCE: Final = 1e-3  # m that a goal may lie outside the task's box


class Attempts:
    """Counts attempts and successes; at most one attempt is under way."""

    def __init__(self, task: Task, goal: FloatArray) -> None:
        self._task = task
        self.goal = check_goal(task, goal)
        self.outcome = ""  # of the last goal that was sent, once it is judged
        self.is_under_way = False  # whether the goal was sent and is not yet judged
        self.held_back = 0  # commands of the current attempt that the workspace limit changed
        self._attempt: EpisodeRecorder | None = None
        self._goals = self._made = self._successes = 0

    def aim(self, goal: FloatArray) -> None:
        """Set another goal (3,), or raise ValueError and keep the last one."""
        self.goal = check_goal(self._task, goal)
        self._attempt, self.is_under_way, self.outcome = None, True, ""
        self._goals += 1

    def abandon(self) -> None:
        """Drop the current attempt, which is not counted; the next observation begins another one."""
        self._attempt = None

    def observe(self, obs: Float32Array) -> PlayedEpisode | None:
        """Add an observation of a running arm; returns the attempt at the goal when its time is over."""
        if not self.is_under_way:
            return None
        if self._attempt is None:
            self._attempt, self.held_back = EpisodeRecorder(self._task, deterministic=True), 0
        if not self._attempt.observe(obs):
            return None
        finished, self._attempt, self.is_under_way = self._attempt.finish(), None, False
        self._made += 1
        self._successes += finished.success
        distance, what = 1e3 * float(self._task.distance(obs)), "reached" if finished.success else "missed"
        self.outcome = f"{what}: {distance:.0f} mm away after {finished.steps} steps"
        if not finished.success and self.held_back > finished.steps // 2:
            self.outcome += f"; the workspace limit changed {self.held_back} commands"
        return finished

    def act(self, action: FloatArray, policy_version: int) -> None:
        """Note the action chosen at the last observation."""
        if self._attempt is not None:
            self._attempt.act(action.astype(np.float32), policy_version)

    def figures(self) -> dict[str, str | int]:
        low, high = self._task.goal_box
        return {
            "goal": spelled(self.goal),
            "goal_low": spelled(low),
            "goal_high": spelled(high),
            "goal_outcome": self.outcome or (UNDER_WAY if self.is_under_way else "none was sent"),
            "goals": self._goals,
            "attempts": self._made,
            "successes": self._successes,
        }


def spelled(point: FloatArray) -> str:
    """A point as it is logged and reported, m."""
    return " ".join(f"{x:.3f}" for x in point)


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
