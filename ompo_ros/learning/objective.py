"""OMPO's min-max objective over Q and the policy, term by term; the agent averages, a proof may weigh exactly."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ompo_ros.learning.config import Config
from ompo_ros.learning.divergence import power, power_slope

SIGN = {"paper": -1.0, "bound": 1.0, "none": 0.0}


@dataclass(frozen=True)
class Objective:
    """min_Q (1 - γ) E[Q(s0, a0)] + α E[f*(Ψ / α)], multiplied by α^(q - 1): the same minimiser, convenient magnitudes.

    Rescaled it reads |Ψ|^q / q + α^(q - 1) [(1 - γ) Q(s0, a0) + Ψ]. Without the linear part Ψ, f* is |y|^q / q,
    AlgaeDICE's choice, for which the divergence is E[|x|^p / p].
    """

    q: float
    alpha: float
    discount: float
    discrepancy: str = "none"
    discrepancy_weight: float = 0.0
    linear_part: bool = True
    initial_term: bool = True
    weight_max: float = float("inf")

    @classmethod
    def of(cls, config: Config) -> Objective:
        return cls(
            q=config.q,
            alpha=config.alpha,
            discount=config.discount,
            discrepancy=config.discrepancy,
            discrepancy_weight=config.discrepancy_weight,
            linear_part=config.linear_part,
            initial_term=config.initial_term,
            weight_max=config.weight_max,
        )

    @property
    def scale(self) -> float:
        """α^(q - 1): the factor by which the terms here exceed those of the equations."""
        return float(self.alpha ** (self.q - 1.0))

    def corrected_reward(self, reward: Tensor, log_ratio: Tensor) -> Tensor:
        """Reward with R = log(ρ / ρ̂): subtracted as in the paper, added as in the lower bound."""
        return reward + SIGN[self.discrepancy] * self.discrepancy_weight * log_ratio

    def residual(self, reward: Tensor, continues: Tensor, next_value: Tensor, value: Tensor) -> Tensor:
        """Ψ = reward + γ Q(s', a') - Q(s, a), with nothing beyond the task's own end."""
        return reward + self.discount * continues * next_value - value

    def residual_loss(self, psi: Tensor) -> Tensor:
        """α^(q - 1) · α f*(Ψ / α), the critic's cost of each transition."""
        loss = power(psi, self.q)
        return loss + self.scale * psi if self.linear_part else loss

    def initial_loss(self, initial_value: Tensor) -> Tensor:
        """α^(q - 1) · (1 - γ) Q(s0, a0), the critic's cost of each initial state."""
        return (self.scale * (1.0 - self.discount)) * initial_value

    def weight(self, psi: Tensor) -> Tensor:
        """α^(q - 1) · w with w = f*'(Ψ / α), how much the policy learns from each transition.

        At the inner optimum w is a density ratio; elsewhere it may fall below zero and is then clipped.
        """
        slope = power_slope(psi, self.q)
        if self.linear_part:
            slope = slope + self.scale
        return slope.clamp(0.0, self.weight_max * self.scale)

    def policy_gain(self, weight: Tensor, continues: Tensor, next_value: Tensor) -> Tensor:
        """The actor's objective: the derivative of `residual_loss` in the policy is w γ dQ(s', π)."""
        return weight * (self.discount * continues) * next_value
