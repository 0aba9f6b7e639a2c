"""The paper's own Panda-Reach: panda-gym's task and flat observation, its actions disturbed at every step."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import FlattenObservation

from ompo_ros.sim.panda_gym_package import panda_gym_envs, without_banner
from ompo_ros.sim.plant import ImageArray
from ompo_ros.task.tasks import CONTROL_RATE, Float32Array


class PaperPandaReach(gymnasium.Env[Float32Array, Float32Array]):
    """Joint control, action + 0.05 + U(0, 0.01); an episode ends when the goal is reached, as in panda-gym."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": CONTROL_RATE}  # noqa: RUF012

    def __init__(self, reward: str = "dense", render_mode: str | None = None) -> None:
        with without_banner():
            made = panda_gym_envs.PandaReachEnv(render_mode="rgb_array", reward_type=reward, control_type="joints")
        self._env: gymnasium.Env[Float32Array, Float32Array] = FlattenObservation(made)
        self.observation_space = self._env.observation_space
        self.action_space = self._env.action_space
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32Array, dict[str, Any]]:
        """Begin an episode; panda-gym forgets its generator at each unseeded reset, so it gets a seed from ours."""
        super().reset(seed=seed)
        return self._env.reset(seed=int(self.np_random.integers(2**31)))

    def step(self, action: Float32Array) -> tuple[Float32Array, float, bool, bool, dict[str, Any]]:
        """Disturb the action as the paper does, then step."""
        noise = self.np_random.uniform(0.0, 0.01, size=action.shape)
        obs, reward, terminated, truncated, info = self._env.step((action + 0.05 + noise).astype(np.float32))
        return obs, float(reward), terminated, truncated, info

    def render(self) -> ImageArray | None:
        return np.asarray(self._env.render()) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self._env.close()
