"""From an environment's `step` to an agent: makes the Transitions and the updates of a plain training loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ompo_ros.learning.agent import Agent
from ompo_ros.transitions import Origin, Transitions

Values = NDArray[Any]


class StepLearner:
    """Feeds an agent with the steps of one environment and updates it as they arrive.

    Works with any environment that has gymnasium's `reset` and `step` and a box of actions::

        learner = StepLearner(agent, env.action_space.low, env.action_space.high)
        obs, _ = env.reset(seed=0)
        for _ in range(10_000):
            obs, reward, terminated, truncated, _ = env.step(learner.act(obs))
            learner.observe(obs, reward, terminated, truncated)
            if terminated or truncated:
                obs, _ = env.reset()

    Agents act in [-1, 1]; `low` and `high` map that range to the environment's. The first `warmup` steps are
    uniformly random and make no updates. Each later step makes `updates_per_step` updates; fractions add up.
    """

    def __init__(
        self,
        agent: Agent,
        low: Values,
        high: Values,
        *,
        origin: Origin = Origin.TARGET,
        warmup: int = 1_000,
        updates_per_step: float = 1.0,
    ) -> None:
        self.agent, self.origin = agent, origin
        self.steps = 0
        low, high = (np.asarray(limit, np.float64) for limit in (low, high))
        if low.shape != (agent.act_dim,) or high.shape != low.shape:
            raise ValueError(f"low, high: have shapes {low.shape} and {high.shape}, ({agent.act_dim},) is needed")
        if not np.isfinite([low, high]).all() or (low >= high).any():
            raise ValueError("low, high: must be finite, and low below high; wrap the environment to bound its actions")
        self._middle, self._half_range = (low + high) / 2, (high - low) / 2
        self._warmup, self._updates_per_step, self._due = warmup, updates_per_step, 0.0
        self._rng = np.random.default_rng(agent.seed)
        self._episode_step = 0
        self._last: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    def act(self, obs: Values) -> Values:
        """Choose an exploring action in the environment's range, and remember it for `observe`."""
        seen = _flat(obs)
        if self.steps < self._warmup:
            action = self._rng.uniform(-1.0, 1.0, self.agent.act_dim).astype(np.float32)
        else:
            action = self.agent.act(seen)
        self._last = seen, action
        return self._scaled(action)

    def best_action(self, obs: Values) -> Values:
        """Give the action of the policy to deploy, in the environment's range, without learning from it."""
        return self._scaled(self.agent.act(_flat(obs), deterministic=True))

    def observe(self, next_obs: Values, reward: float, terminated: bool, truncated: bool) -> None:
        """Learn from what `step` returned for the last action of `act`."""
        if self._last is None:
            raise RuntimeError("observe: call act first; each action is learned from once")
        obs, action = self._last
        self.agent.observe(
            Transitions(
                origin=self.origin,
                obs=obs[None],
                action=action[None],
                reward=np.array([reward], np.float32),
                next_obs=_flat(next_obs)[None],
                terminated=np.array([terminated], np.bool_),
                truncated=np.array([truncated], np.bool_),
                step=np.array([self._episode_step], np.uint32),
                policy_version=np.zeros(1, np.uint32),
                domain_id=np.zeros(1, np.uint32),
            )
        )
        self._last = None
        self._episode_step = 0 if terminated or truncated else self._episode_step + 1
        self.steps += 1
        self._update()

    def _update(self) -> None:
        if self.steps <= self._warmup or not self.agent.ready:
            return
        self._due += self._updates_per_step
        whole = int(self._due)
        if whole > 0:
            self._due -= whole
            self.agent.update(whole)

    def _scaled(self, action: NDArray[np.float32]) -> Values:
        return (self._middle + self._half_range * action).astype(np.float32)


def _flat(obs: Values) -> NDArray[np.float32]:
    return np.array(obs, np.float32).ravel()
