"""An agent whose actor imitates a teacher, and whose critics then rate that actor: networks to continue with.

The teacher is a function of the observation, so it corrects the actor in the states that the actor itself gets to
(DAgger, Ross et al. 2011).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor

from ompo_ros.learning import Agent, Config, make_agent
from ompo_ros.learning.sac import SAC
from ompo_ros.sim.collection import Act
from ompo_ros.task.tasks import Float32Array

LOG_STD: Final = -1.6  # of the taught actor's exploration: about the deviation that SAC ends with on reach
LOG_STD_WEIGHT: Final = 0.01
LEARNING_RATES: Final = (1e-3, 1e-4)  # at the beginning and at the end, of the actor and then of the critics


class Taught(SAC):
    """The first `lessons` updates teach the actor, all later ones the critics."""

    def __init__(self, config: Config, obs_dim: int, act_dim: int, seed: int, teacher: Act, lessons: int) -> None:
        torch.set_num_threads(1)  # as make_agent does for networks of this size
        super().__init__(config, obs_dim, act_dim, seed, torch.device("cpu"))
        self._teacher, self._lessons = teacher, lessons

    def slow_down(self, updates: int) -> None:
        """Lower the step sizes on the way to the last lesson, and again to the last of `updates`."""
        first, last = LEARNING_RATES
        taught = self.updates >= self._lessons
        begin, end = (self._lessons, updates) if taught else (0, self._lessons)
        progress = (self.updates - begin) / max(end - begin, 1)
        for optimizer in (self.actor_optimizer, self.critic_optimizer):
            optimizer.groups[0].lr = first * (last / first) ** progress

    def _step(self, with_actor: bool) -> None:
        rows = self._sample()
        if self.updates <= self._lessons:
            self._imitate(self.layout.obs(rows))
            return
        self._update_critic(rows, self._reward(rows))
        if with_actor:
            self._track_targets()

    def _imitate(self, obs: Tensor) -> None:
        seen = obs / self.normalizer.scale + self.normalizer.mean
        wanted = torch.from_numpy(self._teacher(seen.numpy()))
        mean, log_std = self.actor.distribution(obs)
        error = (mean.tanh() - wanted).square().mean()
        self.actor_optimizer.descend(
            error + LOG_STD_WEIGHT * (log_std - LOG_STD).square().mean() + 0.0 * self.log_temperature
        )
        self._readings.update(imitation_error=error.detach)


def half_taught(agent: Agent, teacher: Act) -> Act:
    """The teacher moves the first half of the arms, the agent the others."""

    def act(obs: Float32Array) -> Float32Array:
        half = len(obs) // 2
        return np.concatenate((teacher(obs[:half]), agent.act(obs[half:])))

    return act


def without_normalizer(agent: Agent, config: Config) -> Agent:
    """An agent of `config` with the same networks for plain observations: the first layers take over the scaling."""
    plain = make_agent(config, agent.obs_dim, agent.act_dim, agent.seed, device="cpu")
    mean, scale = agent.normalizer.mean, agent.normalizer.scale
    with torch.no_grad():
        for own, found in ((plain.actor, agent.actor), (plain.critic, agent.critic)):
            own.flat.copy_(found.flat)
            weight = own.named["weight_0"][:, : agent.obs_dim]  # of all heads
            weight.mul_(scale[:, None])
            own.named["bias_0"].sub_((mean @ weight)[:, None])
        plain.log_temperature.copy_(agent.log_temperature)
    plain.restart_copies()
    return plain
