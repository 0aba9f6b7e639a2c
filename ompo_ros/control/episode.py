"""Episodes as they are recorded on the arm: whole, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ompo_ros.task.acting import EpisodeResult
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Float32Array, Task
from ompo_ros.transitions import Origin, Transitions

TARGET_DOMAIN = 0  # seen from its topics, the arm has one domain
_MOVED = 0.01  # rad; from a smaller motion no arm that is at home in free air gets to press on something


@dataclass(frozen=True)
class PlayedEpisode(EpisodeResult):
    """An episode that was played on the arm; it has transitions only if it was completed."""

    origin: Origin = Origin.TARGET
    transitions: Transitions | None = None


@dataclass
class EpisodeRecorder:
    """Collects (observation, action) pairs; the observation one control period later completes each."""

    task: Task
    deterministic: bool
    origin: Origin = Origin.TARGET
    observations: list[Float32Array] = field(default_factory=list)
    actions: list[Float32Array] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    commands: list[FloatArray] = field(default_factory=list)

    def observe(self, obs: Float32Array) -> bool:
        """Add the observation after the last action; True when the episode's time is over."""
        self.observations.append(obs)
        return len(self.observations) > self.task.episode_steps

    def act(self, action: Float32Array, policy_version: int) -> None:
        """Record the action chosen at the last observation."""
        self.actions.append(np.array(action, dtype=np.float32))
        self.versions.append(policy_version)

    def send(self, command: FloatArray) -> None:
        """Record the joint positions (7,) that the driver had in the period after the last action."""
        if len(self.commands) < len(self.actions):
            self.commands.append(command)

    @property
    def has_moved(self) -> bool:
        """Whether the arm has left the place where the episode began."""
        positions = np.stack(self.observations)[:, self.task.contract.slice_of("position")]
        return bool(np.ptp(positions, axis=0).max() > _MOVED)

    def finish(self) -> PlayedEpisode:
        """Close a whole episode; its last transition is truncated, since the arm's tasks end only by time."""
        n = len(self.actions)
        obs = np.stack(self.observations)
        reward = self.task.rewards(obs[1:])
        transitions = Transitions(
            origin=self.origin,
            obs=np.ascontiguousarray(obs[:-1]),
            action=np.stack(self.actions),
            reward=reward,
            next_obs=np.ascontiguousarray(obs[1:]),
            terminated=np.zeros(n, dtype=np.bool_),
            truncated=np.arange(n) == n - 1,
            step=np.arange(n, dtype=np.uint32),
            policy_version=np.array(self.versions, dtype=np.uint32),
            domain_id=np.full(n, TARGET_DOMAIN, dtype=np.uint32),
            command=np.stack(self.commands).astype(np.float32) if len(self.commands) == n else None,
        )
        return self._played(reward, transitions, success=bool(self.task.is_success(obs[-1])))

    def drop(self) -> PlayedEpisode:
        """Close an interrupted episode: none of it may reach the learner."""
        return self._played(self.task.rewards(np.stack(self.observations)[1:]), None)

    def stop(self) -> PlayedEpisode:
        """Close an episode in which the arm was stopped; its return is that of an arm that stays there."""
        stays = [self.observations[-1]] * (self.task.episode_steps - len(self.observations) + 1)
        reward = self.task.rewards(np.stack([*self.observations[1:], *stays]))
        return replace(self._played(reward, None), steps=len(self.observations) - 1, stopped=True)

    def _played(self, reward: Float32Array, transitions: Transitions | None, *, success: bool = False) -> PlayedEpisode:
        return PlayedEpisode(
            steps=len(reward),
            episode_return=float(reward.sum(dtype=np.float64)),
            success=success,
            completed=transitions is not None,
            deterministic=self.deterministic,
            policy_version=self.versions[-1] if self.versions else 0,
            domain_id=TARGET_DOMAIN,
            origin=self.origin,
            transitions=transitions,
        )
