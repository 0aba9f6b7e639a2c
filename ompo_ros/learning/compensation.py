"""Cancels gains and biases of the arm's drives once they are known, so that networks need not learn them again."""

from __future__ import annotations

from typing import Final

import torch
from numpy.typing import ArrayLike
from torch import Tensor

GAINS: Final = (0.2, 5.0)  # a drive beyond them cannot be cancelled by commands in [-1, 1]
BIASES: Final = (-2.0, 2.0)


class Compensation:
    """The networks choose what shall reach the joints, `gain * action + bias`; the action sent is its inverse.

    Buffers hold what reached the joints, so learned networks stay valid when the drives are known better.
    """

    def __init__(self, act_dim: int, device: torch.device) -> None:
        self.gain = torch.ones(act_dim, device=device)
        self.bias = torch.zeros(act_dim, device=device)
        self._bound()

    def set(self, gain: ArrayLike, bias: ArrayLike) -> None:
        """Take gains and biases (act_dim,), within what can be cancelled; ValueError if they are not finite."""
        found = [torch.as_tensor(values, dtype=torch.float32) for values in (gain, bias)]
        if any(values.shape != self.gain.shape or not bool(values.isfinite().all()) for values in found):
            raise ValueError(f"{len(self.gain)} finite gains and as many biases are needed")
        self.gain.copy_(found[0].clamp(*GAINS))
        self.bias.copy_(found[1].clamp(*BIASES))
        self._bound()

    def _bound(self) -> None:
        self._lowest, self._highest = self.bias - self.gain, self.bias + self.gain
        self._changes = bool(((self.gain != 1.0) | (self.bias != 0.0)).any())

    def effective_(self, actions: Tensor) -> Tensor:
        """Replace sent actions by what reached the joints."""
        return actions.mul_(self.gain).add_(self.bias) if self._changes else actions

    def sent_before_(self, actions: Tensor) -> Tensor:
        """Replace what reached the joints by the sent actions again."""
        return actions.sub_(self.bias).div_(self.gain) if self._changes else actions

    def reachable(self, effective: Tensor) -> Tensor:
        """The nearest that actions in [-1, 1] can bring about: no value is asked of what never happens."""
        return effective.clamp(self._lowest, self._highest) if self._changes else effective

    def sent(self, effective: Tensor) -> Tensor:
        """The actions to send."""
        return ((effective - self.bias) / self.gain).clamp_(-1.0, 1.0) if self._changes else effective
