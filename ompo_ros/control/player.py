"""Plays episodes on the arm: demonstrates by the task's script, explores with the newest policy, or evaluates one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ompo_ros.control.episode import EpisodeRecorder, PlayedEpisode
from ompo_ros.control.motion import NO_CUBE
from ompo_ros.control.observation import observe
from ompo_ros.control.safety import ArmState
from ompo_ros.task.acting import Policy
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Float32Array, Task
from ompo_ros.task.teacher import script_of
from ompo_ros.transitions import Origin

_ATTEMPTS: Final = 2  # of the script, for every demonstration asked for
_MAX_GAP: Final = 2.0  # periods between two steps; beyond it, an action lasted longer than the task allows


@dataclass
class EvaluationRun:
    """Deterministic episodes of one policy from a fixed seed, so that all policies get the same goals."""

    policy: Policy
    wanted: int
    rng: np.random.Generator
    played: list[PlayedEpisode] = field(default_factory=list)
    dropped: int = 0

    @property
    def done(self) -> bool:
        return len(self.played) >= self.wanted


class Player:
    """One episode at a time, step by step; homing in between is done elsewhere.

    The first `scripted` episodes are demonstrations by the task's script, with the same homing and the same limits. One
    that fails shows nothing: it is handed over without transitions, and another is tried, up to `_ATTEMPTS` for each.
    """

    def __init__(self, task: Task, period: float, *, seed: int, max_steps: int, scripted: int = 0) -> None:
        self.policy: Policy | None = None  # the one that explores
        self.target_steps = 0  # that were explored
        self.demonstration_steps = 0
        self.evaluation: EvaluationRun | None = None
        self.may_explore = True  # or wait for the learner
        self._task, self._period, self._seed, self._max_steps = task, period, seed, max_steps
        self._script = script_of(task.name) if scripted else None
        self._scripted_steps = scripted * task.episode_steps
        self._attempts_left = _ATTEMPTS * scripted
        self._rng = np.random.default_rng(seed)
        self._episode: EpisodeRecorder | None = None
        self.goal: FloatArray | None = None  # of the newest episode
        self._last_step = 0.0

    def evaluate(self, policy: Policy, episodes: int) -> EvaluationRun:
        """Play `episodes` deterministic ones after the current one."""
        self.evaluation = EvaluationRun(policy, episodes, np.random.default_rng((self._seed, 1)))
        return self.evaluation

    def stop_evaluation(self) -> None:
        """Go back to exploring; a deterministic episode under way is dropped."""
        self.evaluation = None

    @property
    def exploration_done(self) -> bool:
        return 0 < self._max_steps <= self.target_steps

    @property
    def has_work(self) -> bool:
        """Whether there is an episode to play; a begun one continues unless its evaluation was stopped."""
        if self._episode is not None:
            return self.evaluation is not None or not self._episode.deterministic
        exploring = self.policy is not None and not self.exploration_done
        return exploring or self._pending() is not None

    @property
    def may_begin(self) -> bool:
        """Whether the next episode may begin now."""
        return self.may_explore or self._pending() is not None

    @property
    def _demonstrates(self) -> bool:
        return self.demonstration_steps < self._scripted_steps and self._attempts_left > 0

    def doubt(self, now: float) -> str:
        """Say why the current episode cannot continue at `now`."""
        gap = now - self._last_step
        if self._episode is None or gap <= _MAX_GAP * self._period:
            return ""
        return f"{gap:.3f} s between two steps of {self._period:.3f} s"

    def begin(self) -> None:
        """Draw a goal; a waiting evaluation goes first, then demonstrations."""
        evaluation = self._pending()
        rng = self._rng if evaluation is None else evaluation.rng
        self.goal = self._task.goals(rng.random((1, 3)))[0]
        origin = Origin.DEMONSTRATION if evaluation is None and self._demonstrates else Origin.TARGET
        self._episode = EpisodeRecorder(self._task, deterministic=evaluation is not None, origin=origin)

    def step(self, state: ArmState, cube: FloatArray | None, now: float) -> FloatArray | PlayedEpisode:
        """The action (7,) of the next period, or the finished episode."""
        episode, goal = self._episode, self.goal
        assert episode is not None and goal is not None  # noqa: PT018, S101 - `begin` comes first
        self._last_step = now
        obs = observe(self._task, state.position, state.velocity, NO_CUBE if cube is None else cube, goal)
        if episode.observe(obs):
            return self._finish(episode)
        action, version = self._choose(obs, episode)
        episode.act(action, version)
        return action.astype(np.float64)

    def sent(self, command: FloatArray) -> None:
        """Record the joint positions (7,) that the driver had in the period after the last action."""
        if self._episode is not None:
            self._episode.send(command)

    def stop(self) -> PlayedEpisode | None:
        """End the current episode, if there is one, because the arm did not follow: an evaluated policy has failed.

        It has no part in an arm that never moved: somebody has pressed its stop button.
        """
        episode = self._episode
        if episode is None or self.evaluation is None or not (episode.deterministic and episode.has_moved):
            return self.drop()
        stopped, self._episode = episode.stop(), None
        self.evaluation.played.append(stopped)
        return stopped

    def drop(self) -> PlayedEpisode | None:
        """Interrupt the current episode, if there is one, for what its policy has no part in."""
        if self._episode is None:
            return None
        dropped, self._episode = self._episode.drop(), None
        if self.evaluation is not None and dropped.deterministic:
            self.evaluation.dropped += 1
        return dropped

    def _pending(self) -> EvaluationRun | None:
        return self.evaluation if self.evaluation is not None and not self.evaluation.done else None

    def _finish(self, episode: EpisodeRecorder) -> PlayedEpisode:
        finished, self._episode = episode.finish(), None
        if finished.deterministic and self.evaluation is not None:
            self.evaluation.played.append(finished)
        if finished.origin is Origin.DEMONSTRATION:
            self._attempts_left -= 1
            if not finished.success:
                return replace(finished, transitions=None)
            self.demonstration_steps += finished.steps
        elif not finished.deterministic:
            self.target_steps += finished.steps
        return finished

    def _choose(self, obs: Float32Array, episode: EpisodeRecorder) -> tuple[Float32Array, int]:
        if self._script is not None and episode.origin is Origin.DEMONSTRATION:
            return self._script(obs[None])[0], 0
        if episode.deterministic and self.evaluation is not None:
            return self.evaluation.policy.act(obs), self.evaluation.policy.version
        assert self.policy is not None  # noqa: S101 - without one nothing begins
        return self.policy.sample(obs, self._rng), self.policy.version
