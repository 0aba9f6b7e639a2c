"""SAC with importance weights, as in the ODRL benchmark (Lyu et al. 2024)."""

from __future__ import annotations

from typing import Final

from torch import Tensor

from ompo_ros.learning.classified import ClassifiedSAC

LOW: Final = 1e-4  # of the weights, as in the benchmark's program
HIGH: Final = 10.0


class SACIW(ClassifiedSAC):
    """Weighs the critics' loss of each source transition by the likelihood ratio of its next state in the target."""

    def _weighed(self, cost: Tensor, rows: Tensor) -> Tensor:
        if not self.corrects:
            return cost
        weight = self.log_odds(rows).exp().clamp(LOW, HIGH)
        self._readings.update(importance=weight.mean)
        return weight * cost
