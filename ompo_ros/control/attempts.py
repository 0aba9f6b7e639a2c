"""A user's goal, and the attempts at it that count: an episode's time without a stop, a swap or another goal."""

from __future__ import annotations

from typing import Final

import numpy as np

from ompo_ros.control.episode import EpisodeRecorder, PlayedEpisode
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Float32Array, Task

UNDER_WAY: Final = "under way"
_TOLERANCE: Final = 1e-3  # m by which a goal may be out of the task's box


class Attempts:
    """Counts attempts and successes; at most one attempt is under way."""

    def __init__(self, task: Task, goal: FloatArray) -> None:
        self._task = task
        self.goal = check_goal(task, goal)
        self.outcome = ""  # of the last goal that was sent, once it is judged
        self._wanted = False  # whether the goal was sent and is not yet judged
        self._attempt: EpisodeRecorder | None = None
        self._goals = self._made = self._successes = 0

    def aim(self, goal: FloatArray) -> None:
        """Take another goal (3,), or raise ValueError and keep the one before."""
        self.goal = check_goal(self._task, goal)
        self._attempt, self._wanted, self.outcome = None, True, ""
        self._goals += 1

    def abandon(self) -> None:
        """Forget the attempt under way, it counts for nobody; the next observation begins another one."""
        self._attempt = None

    def observe(self, obs: Float32Array) -> PlayedEpisode | None:
        """Take in an observation of an arm that runs; gives the attempt at the goal if its time is over."""
        if not self._wanted:
            return None
        if self._attempt is None:
            self._attempt = EpisodeRecorder(self._task, deterministic=True)
        if not self._attempt.observe(obs):
            return None
        finished, self._attempt, self._wanted = self._attempt.finish(), None, False
        self._made += 1
        self._successes += finished.success
        distance, what = 1e3 * float(self._task.distance(obs)), "reached" if finished.success else "missed"
        self.outcome = f"{what}: {distance:.0f} mm away after {finished.steps} steps"
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
            "goal_outcome": self.outcome or (UNDER_WAY if self._wanted else "none was sent"),
            "goals": self._goals,
            "attempts": self._made,
            "successes": self._successes,
        }


def spelled(point: FloatArray) -> str:
    """A point as it is logged and reported, m."""
    return " ".join(f"{x:.3f}" for x in point)


def check_goal(task: Task, goal: FloatArray) -> FloatArray:
    """Give the goal (3,) back if the task has such goals; ValueError says where they lie."""
    low, high = task.goal_box
    if goal.shape != (3,) or not np.isfinite(goal).all():
        raise ValueError(f"goal {goal.tolist()}: three finite coordinates are needed")
    if (goal < low - _TOLERANCE).any() or (goal > high + _TOLERANCE).any():
        raise ValueError(
            f"goal {goal.tolist()}: {task.name} has goals from {low.tolist()} to {high.tolist()} m in the base frame"
        )
    return goal
