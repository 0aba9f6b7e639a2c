"""Adam around torch's fused kernel: with one block of parameters per network, torch's wrapper would dominate."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Group:
    """Parameters that share a step size, with their moments."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float) -> None:
        self.parameters: list[Tensor] = list(parameters)
        self.lr = lr
        self.means = [torch.zeros_like(p) for p in self.parameters]
        self.squares = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [torch.zeros((), device=p.device) for p in self.parameters]

    def step(self, gradients: list[Tensor]) -> None:
        for count in self.steps:
            count.add_(1.0)
        torch._fused_adam_(
            self.parameters,
            gradients,
            self.means,
            self.squares,
            [],
            self.steps,
            lr=self.lr,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )


class Adam:
    """Adam (Kingma and Ba 2015) with its usual constants, over one or several groups."""

    def __init__(self, *groups: Group) -> None:
        self.groups = groups
        self._parameters = [p for group in groups for p in group.parameters]

    @torch.no_grad()
    def _step(self, gradients: tuple[Tensor, ...]) -> None:
        start = 0
        for group in self.groups:
            stop = start + len(group.parameters)
            group.step(list(gradients[start:stop]))
            start = stop

    def descend(self, loss: Tensor) -> None:
        """One step on these parameters; no other network gets a gradient."""
        self._step(torch.autograd.grad(loss, self._parameters))

    def state(self) -> dict[str, Tensor]:
        """Name the moments and counts, for a checkpoint."""
        named: dict[str, Tensor] = {}
        for i, group in enumerate(self.groups):
            for kind, tensors in (("mean", group.means), ("square", group.squares), ("step", group.steps)):
                named |= {f"{i}.{kind}.{j}": tensor for j, tensor in enumerate(tensors)}
        return named
