"""Transitions from N simulated arms; the policy may change between two steps without ending episodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ompo_ros.sim.domain import Domain
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.acting import EpisodeResult
from ompo_ros.task.tasks import Float32Array
from ompo_ros.transitions import Origin, Transitions

Act = Callable[[Float32Array], Float32Array]


class Collection:
    """N arms that keep moving from call to call."""

    def __init__(self, env: PandaVectorEnv, seed: int) -> None:
        self._env = env
        self._begin(seed)

    def restart(self, domain: Domain, seed: int | None = None) -> None:
        """Break off all episodes and begin new ones in `domain`: rows of older dynamics would be learned as its own.

        With a seed the arms' randomness and their count of episodes begin anew as well.
        """
        self._env.set_domain(domain)
        self._begin(seed)

    def _begin(self, seed: int | None) -> None:
        self._obs, _ = self._env.reset(seed=seed)
        self._step = np.zeros(self._env.num_envs, dtype=np.uint32)
        self._return = np.zeros(self._env.num_envs)

    def run(self, act: Act, steps: int, policy_version: int) -> tuple[Transitions, list[EpisodeResult]]:
        """Step every arm `steps` times with `act`; returns transitions ordered by step, then by arm."""
        n, episodes = self._env.num_envs, []
        columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _COLUMNS}
        for _ in range(steps):
            action = np.array(act(self._obs), dtype=np.float32)
            obs, reward, terminated, truncated, info = self._env.step(action)
            before = (self._obs, action, reward, info["final_obs"], terminated, truncated, self._step.copy())
            for name, values in zip(_COLUMNS, (*before, info["domain_id"]), strict=True):
                columns[name].append(values)
            self._return += reward
            self._step += 1
            for arm in np.flatnonzero(truncated | terminated).tolist():
                episodes.append(self._finish(arm, info, policy_version))
            self._obs = obs
        version = np.full(n * steps, policy_version, dtype=np.uint32)
        joined = {name: np.concatenate(parts) for name, parts in columns.items()}
        return Transitions(origin=Origin.SOURCE, policy_version=version, **joined), episodes

    def _finish(self, arm: int, info: dict[str, Any], policy_version: int) -> EpisodeResult:
        result = EpisodeResult(
            steps=int(self._step[arm]),
            episode_return=float(self._return[arm]),
            success=bool(info["is_success"][arm]),
            completed=True,
            deterministic=False,
            policy_version=policy_version,
            domain_id=int(info["domain_id"][arm]),
            domain=tuple(info["domain"][arm].tolist()),
        )
        self._step[arm], self._return[arm] = 0, 0.0
        return result


_COLUMNS = ("obs", "action", "reward", "next_obs", "terminated", "truncated", "step", "domain_id")
