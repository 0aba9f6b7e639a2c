"""Exact weighted sampling of a ring's rows by binary search."""

from __future__ import annotations

import torch
from torch import Tensor

from ompo_ros.learning.buffers import EmptyBuffer


def effective_sample_size(weight: Tensor) -> Tensor:
    """Effective sample size as a share of all rows: 1 for equal weights, 1/n if one row has all the weight."""
    weight = weight.flatten()
    return weight.sum().square() / (len(weight) * weight.square().sum()).clamp_min(torch.finfo(weight.dtype).tiny)


class WeightedDraw:
    """Draws row numbers in proportion to exp(temper * R), from the running sum of the weights.

    When rows change, the sum is recomputed there and shifted behind; a draw is a binary search for each number.
    """

    def __init__(self, capacity: int, temper: float, device: torch.device) -> None:
        self._sums = torch.zeros(capacity, dtype=torch.float64, device=device)
        self._temper = temper

    def weights(self, log_ratio: Tensor) -> Tensor:
        return (self._temper * log_ratio.double()).exp()

    def update(self, start: int, log_ratio: Tensor, size: int) -> None:
        """Set R of the rows from `start` on; the ring holds `size` rows."""
        stop = start + len(log_ratio)
        sums = self.weights(log_ratio).cumsum(0)
        if start > 0:
            sums += self._sums[start - 1]
        self._sums[stop:size] += sums[-1] - self._sums[stop - 1]
        self._sums[start:stop] = sums

    def draw(self, count: int, size: int, rng: torch.Generator) -> Tensor:
        """Draw `count` of the first `size` rows, with replacement."""
        if size == 0:
            raise EmptyBuffer("D_G is empty: observe transitions first")
        place = torch.rand(count, generator=rng, device=rng.device, dtype=torch.float64) * self._sums[size - 1]
        return torch.searchsorted(self._sums[:size], place, right=True).clamp_(max=size - 1)
