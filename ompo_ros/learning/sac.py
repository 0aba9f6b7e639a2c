"""Soft actor-critic (Haarnoja et al. 2018) on all transitions."""

from __future__ import annotations

import torch
from torch import Tensor

from ompo_ros.learning.agent import Agent


class SAC(Agent):
    """Maximises reward plus entropy, and ignores the origin of a transition."""

    def _step(self, with_actor: bool) -> None:
        rows = self._sample()
        self._update_critic(rows, self._reward(rows))
        if with_actor:
            self._update_actor(self.layout.obs(rows))
            self._track_targets()

    def _reward(self, rows: Tensor) -> Tensor:
        return self.reward(self.layout.reward(rows))

    def soft_target(self, rows: Tensor, reward: Tensor) -> Tensor:
        """Bootstrap: r + γ [min Q̄(s', a') - temperature log π(a'|s')], no value beyond the task's own end."""
        with torch.no_grad():
            next_obs = self.layout.next_obs(rows)
            action, log_prob = self._explore(next_obs)
            next_value = self.target_critic(torch.cat((next_obs, action), 1)).amin(0) - self.temperature * log_prob
            target: Tensor = reward + self.config.discount * self.layout.continues(rows) * next_value
            return target

    def _update_critic(self, rows: Tensor, reward: Tensor) -> None:
        target = self.soft_target(rows, reward)
        value = self.critic(self.layout.obs_action(rows))
        loss = 0.5 * self._weighed((target - value).square(), rows).mean(1).sum()
        self.critic_optimizer.descend(loss)
        self._readings.update(critic_loss=loss.detach, q=value.detach().mean)

    def _weighed(self, cost: Tensor, rows: Tensor) -> Tensor:
        """Weigh each row's loss; here all weights are equal."""
        return cost

    def _update_actor(self, obs: Tensor) -> None:
        action, log_prob = self._explore(obs)
        value = self.critic(torch.cat((obs, action), 1), frozen=True).amin(0)
        loss = (self.temperature * log_prob - value).mean()
        temperature = self.temperature
        self.actor_optimizer.descend(loss + self._temperature_loss(log_prob) + self._anchor_loss(obs))
        log_prob = log_prob.detach()
        self._readings.update(actor_loss=loss.detach, entropy=lambda: -log_prob.mean(), temperature=lambda: temperature)
