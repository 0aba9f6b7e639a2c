"""Occupancy-Matching Policy Optimization (Luo et al. 2024), algorithm 1; docs/algorithm.md explains every choice."""

from __future__ import annotations

import torch
from torch import Tensor

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.config import Config
from ompo_ros.learning.objective import Objective
from ompo_ros.learning.replay import effective_sample_size


class OMPO(Agent):
    """max over π, min over Q of (1-γ) E[Q(s0, a0)] + α E_{D_G}[f*(Ψ / α)], with Ψ = r ± c R + γ Q(s', a') - Q(s, a)."""

    def __init__(self, config: Config, obs_dim: int, act_dim: int, seed: int, device: torch.device) -> None:
        super().__init__(config, obs_dim, act_dim, seed, device)
        self.objective = Objective.of(config)

    def _uses_ratio(self) -> bool:
        return self.config.discrepancy != "none" or super()._uses_ratio()

    def _log_reward(self) -> bool:
        return self.config.reward == "log"

    def _step(self, with_actor: bool) -> None:
        rows, initial = self._sample(), self._sample_initial()
        # One pass of the policy serves the critic's step (values only) and the actor's (with gradients).
        obs = torch.cat((self.layout.next_obs(rows), initial))
        with torch.set_grad_enabled(with_actor):
            action, log_prob = self._explore(obs)
            onward = torch.cat((obs, action), 1)  # (s', a') above (s0, a0)
        psi = self._update_critic(rows, onward.detach(), log_prob.detach())
        if with_actor:
            self._update_actor(self.objective.weight(psi), self.layout.continues(rows), onward, log_prob)
            self._track_targets()

    def corrected_reward(self, rows: Tensor) -> Tensor:
        """Reward or its logarithm, with R by the sign and weight of the settings."""
        reward = self.reward(self.layout.reward(rows))
        if self.rating is None:
            return reward
        discriminator = self.rating.discriminator
        log_ratio = self.layout.log_ratio(rows).clone()  # the sample's memory is reused by the next one
        self._readings.update(R_global=log_ratio.mean, R_saturation=lambda: discriminator.saturation(log_ratio))
        return self.objective.corrected_reward(reward, log_ratio)

    def _update_critic(self, rows: Tensor, onward: Tensor, log_prob: Tensor) -> Tensor:
        psi, initial_value, value = self.residuals(rows, onward, log_prob)
        loss = self.objective.residual_loss(psi).mean(1)
        if self.config.initial_term:
            loss = loss + self.objective.initial_loss(initial_value).mean(1)
        loss = loss.sum()
        self.critic_optimizer.descend(loss)
        psi, value = psi.detach(), value.detach()
        self._readings.update(
            critic_loss=loss.detach,
            q=value.mean,
            psi=psi.mean,
            ess=lambda: effective_sample_size(self.objective.weight(psi)),
        )
        return psi

    def residuals(self, rows: Tensor, onward: Tensor, log_prob: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Ψ, Q(s0, a0) and Q(s, a) of every head; one pass computes all values that need gradients."""
        n = len(rows)
        online = self.config.bootstrap == "online"
        here = self.layout.obs_action(rows)
        values = self.critic(torch.cat((here, onward if online else onward[n:])))
        value, initial_value = values[:, :n], values[:, -len(onward) + n :]
        next_value = values[:, n : 2 * n] if online else self._bootstrap(onward[:n])
        next_value = next_value - self.temperature * log_prob[:n]
        psi = self.objective.residual(self.corrected_reward(rows), self.layout.continues(rows), next_value, value)
        return psi, initial_value, value

    @torch.no_grad()
    def _bootstrap(self, onward: Tensor) -> Tensor:
        """The smallest of the target critics, with a share of the learned ones if `online_share` is set."""
        value: Tensor = self.target_critic(onward).amin(0)
        share = self.config.online_share
        return torch.lerp(value.expand(self.config.critics, -1), self.critic(onward), share) if share else value

    def _update_actor(self, weight: Tensor, continues: Tensor, onward: Tensor, log_prob: Tensor) -> None:
        n = len(continues)
        values = self.critic(onward, frozen=True).amin(0)
        next_value = values[:n] - self.temperature * log_prob[:n]
        gain = self.objective.policy_gain(weight.mean(0), continues, next_value).mean()
        if self.config.initial_term:
            gain = gain + self.objective.initial_loss(values[n:]).mean()
        temperature = self.temperature
        self.actor_optimizer.descend(
            self._temperature_loss(log_prob) - gain + self._anchor_loss(onward[:, : self.obs_dim])
        )
        gain, log_prob = gain.detach(), log_prob.detach()
        self._readings.update(
            actor_loss=lambda: -gain, entropy=lambda: -log_prob.mean(), temperature=lambda: temperature
        )
