"""R(s, a, s') = log(ρ / ρ̂) as the logit of a classifier: local transitions are class 1, global ones class 0."""

from __future__ import annotations

from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from ompo_ros.learning.config import Config
from ompo_ros.learning.networks import Discriminative, Standardization
from ompo_ros.learning.optimizer import Adam, Group

_NEWTON_STEPS: Final = 20
_STEEPEST: Final = 10.0  # slope reported if held-out rows are classified without a mistake


def classification_loss(logit: Tensor, positive: bool) -> Tensor:
    """Binary cross-entropy of each row; over both classes its minimiser is the log ratio of their densities."""
    return F.softplus(-logit if positive else logit)


def gradient_penalty(network: Discriminative, mixed: Tensor) -> Tensor:
    """(|dlogit/dx| - 1)^2 of each row, as in the authors' program; it bounds the logit, which loses its scale."""
    mixed = mixed.detach().requires_grad_(True)
    slope: Tensor
    (slope,) = torch.autograd.grad(network(mixed).sum(), mixed, create_graph=True)
    penalty: Tensor = (torch.linalg.vector_norm(slope, dim=1) - 1.0).square()
    return penalty


class Discriminator(nn.Module):
    """Learns R from local and global transitions; before its first calibration R is zero.

    Logits are overconfident on rows seen often. Held-out rows give the slope by which logits must be multiplied to be
    log ratios; R is the logit times that slope, at most 1.
    """

    def __init__(self, config: Config, obs_dim: int, act_dim: int, rng: torch.Generator, device: torch.device) -> None:
        super().__init__()
        self.standardization = Standardization(obs_dim, act_dim, device)
        self.network = Discriminative(self.standardization.width, config.hidden_size, rng, device)
        self.slope = nn.Parameter(torch.zeros((), device=device), requires_grad=False)
        self.held_out_loss = nn.Parameter(torch.zeros((), device=device), requires_grad=False)
        self.optimizer = Adam(Group(self.network.parameters(), config.discriminator_lr))
        self.trained = False
        self._bound = config.discrepancy_bound
        self._penalty = config.gradient_penalty

    @torch.no_grad()
    def log_ratio(self, transition: Tensor) -> Tensor:
        """R, clipped to the bound; `saturation` counts the clipped values."""
        if not self.trained:
            return transition.new_zeros(len(transition))
        logit: Tensor = self.network(self.standardization(transition))
        return logit.mul_(self.slope.clamp_max(1.0)).clamp_(-self._bound, self._bound)

    def saturation(self, log_ratio: Tensor) -> Tensor:
        """The share of clipped values."""
        return (log_ratio.abs() >= self._bound).float().mean()

    def step(self, local: Tensor, global_: Tensor, rng: torch.Generator) -> None:
        """One optimiser step on a balanced mini-batch."""
        local, global_ = self.standardization(local), self.standardization(global_)
        logit = self.network(torch.cat((local, global_)))
        loss = classification_loss(logit[: len(local)], True).mean()
        loss = loss + classification_loss(logit[len(local) :], False).mean()
        if self._penalty > 0.0:
            share = torch.rand((len(local), 1), generator=rng, device=rng.device)
            loss = loss + self._penalty * gradient_penalty(self.network, torch.lerp(global_, local, share)).mean()
        self.optimizer.descend(loss)

    @torch.no_grad()
    def calibrate(self, local: Tensor, global_: Tensor) -> None:
        """Find the slope that turns logits of held-out rows into log ratios, and the remaining cross-entropy."""
        positive, negative = (self.network(self.standardization(rows)) for rows in (local, global_))
        self.slope.copy_(fitted_slope(positive, negative))
        slope = self.slope.clamp_max(1.0)
        loss = classification_loss(slope * positive, True).mean() + classification_loss(slope * negative, False).mean()
        self.held_out_loss.copy_(0.5 * loss)
        self.trained = True


def fitted_slope(positive: Tensor, negative: Tensor) -> Tensor:
    """Minimise the cross-entropy of `slope * logit` over slopes from 0 up; convex, so Newton's steps find it."""
    slope = torch.ones((), device=positive.device)
    for _ in range(_NEWTON_STEPS):
        p, n = torch.sigmoid(-slope * positive), torch.sigmoid(slope * negative)
        gradient = (negative * n).mean() - (positive * p).mean()
        curvature = (negative.square() * n * (1.0 - n)).mean() + (positive.square() * p * (1.0 - p)).mean()
        step = (gradient / curvature.clamp_min(1e-6)).clamp(-0.5, 0.5)
        slope = (slope - step).clamp(0.0, _STEEPEST)
    return slope
