"""R(s, a, s') = log(ρ / ρ̂) as the logit of a classifier: local transitions are class 1, global ones class 0."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from ompo_ros.learning.buffers import Layout, Ring
from ompo_ros.learning.config import Config
from ompo_ros.learning.networks import Discriminative
from ompo_ros.learning.normalization import Normalizer
from ompo_ros.learning.optimizer import Adam, Group


def classification_loss(logit: Tensor, positive: bool) -> Tensor:
    """Binary cross-entropy of each row; over both classes its minimiser is the log ratio of their densities."""
    return F.softplus(-logit if positive else logit)


def gradient_penalty(network: Discriminative, mixed: Tensor) -> Tensor:
    """(|dlogit/dx| - 1)^2 of each row, which keeps the logit from growing where the classes do not overlap."""
    mixed = mixed.detach().requires_grad_(True)
    slope: Tensor
    (slope,) = torch.autograd.grad(network(mixed).sum(), mixed, create_graph=True)
    penalty: Tensor = (torch.linalg.vector_norm(slope, dim=1) - 1.0).square()
    return penalty


class Discriminator:
    """Learns R from each round of D_L against draws of its size from D_G; before the first round R is zero."""

    def __init__(self, config: Config, transition_dim: int, rng: torch.Generator, device: torch.device) -> None:
        self.network = Discriminative(transition_dim, config.hidden_size, rng, device)
        self.optimizer = Adam(Group(self.network.parameters(), config.discriminator_lr))
        self.trained = False
        self.last_loss = torch.zeros((), device=device)
        self._bound = config.discrepancy_bound
        self._penalty = config.gradient_penalty
        self._draws, self._batches, self._batch_size = (
            config.discriminator_draws,
            config.discriminator_batches,
            config.batch_size,
        )

    @torch.no_grad()
    def log_ratio(self, transition: Tensor) -> Tensor:
        """R, held within the bound; whoever wants the saturation counts the values that lie on it."""
        if not self.trained:
            return transition.new_zeros(len(transition))
        logit: Tensor = self.network(transition)
        return logit.clamp_(-self._bound, self._bound)

    def saturation(self, log_ratio: Tensor) -> Tensor:
        """Give the share of values the bound held back."""
        return (log_ratio.abs() >= self._bound).float().mean()

    def learn(self, local: Ring, global_: Ring, layout: Layout, normalizer: Normalizer, rng: torch.Generator) -> None:
        """Train on one round: `draws` times |D_L| transitions of D_G, each for `batches` balanced mini-batches."""
        fresh = normalizer.transition_(layout.transition(local.used()["row"]).clone())
        for _ in range(self._draws):
            old = layout.transition(global_.columns["row"][global_.draw(len(fresh), rng)])
            normalizer.transition_(old)
            for _ in range(self._batches):
                drawn = torch.randint(len(fresh), (2, self._batch_size), generator=rng, device=rng.device)
                self.step(fresh[drawn[0]], old[drawn[1]], rng)
        self.trained = True

    def step(self, local: Tensor, global_: Tensor, rng: torch.Generator) -> None:
        """One descent on a balanced mini-batch."""
        logit = self.network(torch.cat((local, global_)))
        loss = classification_loss(logit[: len(local)], True).mean()
        loss = loss + classification_loss(logit[len(local) :], False).mean()
        if self._penalty > 0.0:
            share = torch.rand((len(local), 1), generator=rng, device=rng.device)
            loss = loss + self._penalty * gradient_penalty(self.network, torch.lerp(global_, local, share)).mean()
        self.optimizer.descend(loss)
        self.last_loss = loss.detach()
