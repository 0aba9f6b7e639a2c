"""The paper's networks: actor and critic with ELU, the discriminator with tanh, two hidden layers each."""

from __future__ import annotations

import math
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from ompo_ros.learning.mlp import MLP, Sizes
from ompo_ros.learning.normalization import EPSILON


class Critic(MLP):
    """Q(s, a) of every head, from `obs | action` rows to (heads, rows)."""

    def __init__(
        self, inputs: int, hidden: int, heads: int, first_layer: str, rng: torch.Generator, device: torch.device
    ) -> None:
        super().__init__(Sizes(inputs, hidden, 1, heads, first_layer == "layernorm_tanh"), rng, device)

    def forward(self, x: Tensor, frozen: bool = False) -> Tensor:
        return super().forward(x, frozen).squeeze(-1)


class Actor(MLP):
    """A Gaussian squashed by tanh into [-1, 1]; mean and log deviation are halves of one last layer."""

    def __init__(
        self,
        obs_dim: int,
        act_dim: int,
        hidden: int,
        first_layer: str,
        log_std: tuple[float, float],
        rng: torch.Generator,
        device: torch.device,
    ) -> None:
        super().__init__(Sizes(obs_dim, hidden, 2 * act_dim, 1, first_layer == "layernorm_tanh"), rng, device)
        self.act_dim = act_dim
        self.log_std = log_std

    def distribution(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log deviation before the squash."""
        mean, log_std = self(obs)[0].split(self.act_dim, dim=-1)
        return mean, log_std.clamp(*self.log_std)

    def sample(self, obs: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw actions that carry gradients, and their log densities after the squash."""
        mean, log_std = self.distribution(obs)
        noise = torch.randn(mean.shape, generator=rng, device=mean.device)
        return squash(mean, log_std, noise)


def squash(mean: Tensor, log_std: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Give tanh(mean + std * noise) and its log density, in the form that stays finite at the border."""
    raw = torch.addcmul(mean, log_std.exp(), noise)
    half_log_jacobian = math.log(2.0) - raw - F.softplus(-2.0 * raw)
    log_prob = (-2.0 * half_log_jacobian - log_std - 0.5 * noise.square()).sum(-1)
    return raw.tanh(), log_prob - 0.5 * math.log(2.0 * math.pi) * mean.shape[-1]


class Standardization(nn.Module):
    """`s | a | s'` as standardized `s | a | s' - s`, which shows differences of dynamics directly.

    This change of variables keeps the ratio of two densities and makes it independent of units. A checkpoint
    keeps mean and scale with the network; until `fit` they change nothing.
    """

    CLIP: Final = 10.0  # deviations

    def __init__(self, obs_dim: int, act_dim: int, device: torch.device) -> None:
        super().__init__()
        self.obs_dim, self.width = obs_dim, 2 * obs_dim + act_dim
        self.mean = nn.Parameter(torch.zeros(self.width, device=device), requires_grad=False)
        self.scale = nn.Parameter(torch.ones(self.width, device=device), requires_grad=False)

    def fit(self, transition: Tensor) -> None:
        """Set mean and deviation from these rows; a constant column is centred, not scaled."""
        moved = self._moved(transition)
        deviation = moved.std(0, correction=0)
        self.mean.copy_(moved.mean(0))
        self.scale.copy_(torch.where(deviation < EPSILON, 1.0, 1.0 / deviation))

    def forward(self, transition: Tensor) -> Tensor:
        return ((self._moved(transition) - self.mean) * self.scale).clamp(-self.CLIP, self.CLIP)

    def _moved(self, transition: Tensor) -> Tensor:
        n = self.obs_dim
        return torch.cat((transition[:, :-n], transition[:, -n:] - transition[:, :n]), 1)


class Discriminative(nn.Module):
    """One logit a row of standardized inputs; plain operations, because a gradient penalty differentiates it twice."""

    def __init__(self, inputs: int, hidden: int, rng: torch.Generator, device: torch.device) -> None:
        super().__init__()
        sizes = ((inputs, hidden), (hidden, hidden), (hidden, 1))
        layers = [nn.Linear(*size, device=device) for size in sizes]
        self.layers = nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])
        for layer, (fan_in, fan_out) in zip(layers, sizes, strict=True):
            limit = math.sqrt(6.0 / (fan_in + fan_out))
            with torch.no_grad():
                layer.weight.copy_(torch.empty(fan_out, fan_in).uniform_(-limit, limit, generator=rng))
                layer.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        logit: Tensor = self.layers(x)
        return logit[:, 0]
