"""Twin delayed deep deterministic policy gradient (Fujimoto et al. 2018)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.device import track


class TD3(Agent):
    """A deterministic actor, its target smoothed by clipped noise; explores by a fixed deviation before the squash."""

    def _make_networks(self) -> None:
        super()._make_networks()
        self.target_actor = self._make_actor()

    def restart_copies(self) -> None:
        # No loss reaches this half: the exploration noise stays the actor's own, also from other networks, and is
        # exported with it.
        with torch.no_grad():
            self.actor.named["weight_2"][..., self.act_dim :] = 0.0
            self.actor.named["bias_2"][..., self.act_dim :] = math.log(self.config.exploration_noise)
        super().restart_copies()
        track(self.target_actor, self.actor, 1.0)

    def _step(self, with_actor: bool) -> None:
        rows = self._sample()
        target = self.smoothed_target(rows)
        value = self.critic(self.layout.obs_action(rows))
        loss = (target - value).square().mean(1).sum()
        self.critic_optimizer.descend(loss)
        self._readings.update(critic_loss=loss.detach, q=value.detach().mean)
        if with_actor:
            self._update_actor(self.layout.obs(rows))
            self._track_targets()
            track(self.target_actor, self.actor, self.config.target_tau)

    def smoothed_target(self, rows: Tensor) -> Tensor:
        """Bootstrap: r + γ min Q̄(s', clip(π̄(s') + clip(noise))), no value beyond the task's own end."""
        c, layout = self.config, self.layout
        with torch.no_grad():
            next_obs = layout.next_obs(rows)
            action = self.target_actor.distribution(next_obs)[0].tanh()
            noise = torch.randn(action.shape, generator=self.learning_rng, device=self.device) * c.smoothing_noise
            action = (action + noise.clamp_(-c.smoothing_clip, c.smoothing_clip)).clamp_(-1.0, 1.0)
            action = self.compensation.reachable(action)
            next_value: Tensor = self.target_critic(torch.cat((next_obs, action), 1)).amin(0)
            return self.reward(layout.reward(rows)) + c.discount * layout.continues(rows) * next_value

    def _update_actor(self, obs: Tensor) -> None:
        action = self.compensation.reachable(self.actor.distribution(obs)[0].tanh())
        loss = -self.critic(torch.cat((obs, action), 1), frozen=True)[0].mean()
        self.actor_optimizer.descend(loss + self._anchor_loss(obs) + 0.0 * self.log_temperature)
        self._readings.update(actor_loss=loss.detach)

    def modules(self) -> dict[str, nn.Module]:
        return {**super().modules(), "target_actor": self.target_actor}
