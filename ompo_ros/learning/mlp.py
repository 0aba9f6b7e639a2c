"""Two hidden layers as one differentiable operation, all heads and all parameters in one block of memory.

A learner on a CPU spends its time in many small operations. Here a pass is three batched products and their
activations, the gradient is written by hand (a test compares it with automatic differentiation), and since the
parameters are one tensor, an optimiser's step or a target network's step is one operation too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

LAYER_NORM_EPSILON = 1e-5


class Sizes(NamedTuple):
    """Shape of `heads` equal networks, and whether their first layer is LayerNorm and tanh instead of ELU."""

    inputs: int
    hidden: int
    outputs: int
    heads: int
    layer_norm: bool

    def parameters(self) -> dict[str, tuple[int, int, int]]:
        """Name the parameters in their order of memory; `x @ weight + bias` is a layer of all heads at once."""
        h, n = self.heads, self.hidden
        shapes = {"weight_0": (h, self.inputs, n), "bias_0": (h, 1, n), "weight_1": (h, n, n), "bias_1": (h, 1, n)}
        shapes |= {"weight_2": (h, n, self.outputs), "bias_2": (h, 1, self.outputs)}
        return shapes | ({"gain": (h, 1, n), "offset": (h, 1, n)} if self.layer_norm else {})


class MLP(nn.Module):
    """`heads` independent networks of two hidden layers, from (rows, inputs) to (heads, rows, outputs)."""

    def __init__(self, sizes: Sizes, rng: torch.Generator, device: torch.device) -> None:
        super().__init__()
        self.sizes = sizes
        self._shapes = list(sizes.parameters().values())
        self._lengths = [math.prod(shape) for shape in self._shapes]
        self.flat = nn.Parameter(torch.zeros(sum(self._lengths), device=device))
        self.named = dict(zip(sizes.parameters(), self.split(self.flat.detach()), strict=True))
        for name, values in self.named.items():
            if name.startswith("weight"):
                values.copy_(_xavier_uniform(values.shape, rng))
        if sizes.layer_norm:
            self.named["gain"].fill_(1.0)

    def split(self, flat: Tensor) -> list[Tensor]:
        """View a block of parameters, or of their gradients, in their shapes."""
        return [part.view(shape) for part, shape in zip(torch.split(flat, self._lengths), self._shapes, strict=True)]

    def forward(self, x: Tensor, frozen: bool = False) -> Tensor:
        """Compute all heads; if frozen, only the inputs get gradients, not the parameters."""
        out: Tensor = _Pass.apply(x, self.flat.detach() if frozen else self.flat, self)  # type: ignore[no-untyped-call]
        return out


def _xavier_uniform(shape: torch.Size, rng: torch.Generator) -> Tensor:
    limit = math.sqrt(6.0 / (shape[1] + shape[2]))
    return torch.empty(shape).uniform_(-limit, limit, generator=rng)


class _Pass(torch.autograd.Function):
    """The network's value, and by hand its gradients in the inputs and in the block of parameters."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, flat: Tensor, mlp: MLP) -> Tensor:  # noqa: ANN401
        p = mlp.named
        x = x.expand(mlp.sizes.heads, *x.shape)
        first = torch.baddbmm(p["bias_0"], x, p["weight_0"])
        hidden, *kept = _layer_norm_tanh(first, p) if mlp.sizes.layer_norm else (_elu_(first),)
        out = _elu_(torch.baddbmm(p["bias_1"], hidden, p["weight_1"]))
        ctx.mlp = mlp
        ctx.save_for_backward(flat, x, hidden, out, *kept)
        return _last(out, p["weight_2"], p["bias_2"])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # noqa: ANN401
        mlp: MLP = ctx.mlp
        flat, x, hidden, out, *kept = ctx.saved_tensors
        wants_x, wants_flat, _ = ctx.needs_input_grad
        p = mlp.named
        at_second = _elu_backward_(_back_through_last(grad, p["weight_2"]), out)
        at_hidden = torch.bmm(at_second, p["weight_1"].mT)
        flat_grad = torch.empty_like(flat) if wants_flat else None
        parts = dict(zip(p, mlp.split(flat_grad), strict=True)) if flat_grad is not None else {}
        if mlp.sizes.layer_norm:
            at_first = _layer_norm_tanh_backward(at_hidden, hidden, kept, p["gain"], parts)
        else:
            at_first = _elu_backward_(at_hidden, hidden)
        if parts:
            for i, (rows, at) in enumerate(((x, at_first), (hidden, at_second), (out, grad))):
                _weight_gradient(rows, at, parts[f"weight_{i}"])
                torch.sum(at, 1, keepdim=True, out=parts[f"bias_{i}"])
        x_grad = torch.bmm(at_first, p["weight_0"].mT).sum(0) if wants_x else None
        return x_grad, flat_grad, None


# With one output, as of critics, a batched product costs five to fifteen times as much as the same sums.


def _last(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    if weight.shape[-1] > 1:
        return torch.baddbmm(bias, x, weight)
    one: Tensor = torch.linalg.vecdot(x, weight.mT)
    return one.unsqueeze(-1).add_(bias)


def _back_through_last(grad: Tensor, weight: Tensor) -> Tensor:
    return torch.bmm(grad, weight.mT) if weight.shape[-1] > 1 else grad * weight.mT


def _weight_gradient(rows: Tensor, at: Tensor, out: Tensor) -> None:
    if out.shape[-1] > 1:
        torch.bmm(rows.mT, at, out=out)
    else:
        torch.bmm(at.mT, rows, out=out.mT)


def _elu_(x: Tensor) -> Tensor:
    """Compute ELU in place as max(x, exp(min(x, 0)) - 1).

    Torch's own is the same function, but calls expm1, which costs half as much as the layer's product.
    """
    return torch.maximum(x, x.clamp_max(0.0).exp_().sub_(1.0), out=x)


def _elu_backward_(grad: Tensor, out: Tensor) -> Tensor:
    """Multiply in place by ELU's slope, which follows from its result: 1 above zero, result + 1 below."""
    torch.ops.aten.elu_backward.grad_input(grad, 1.0, 1.0, 1.0, True, out, grad_input=grad)
    return grad


def _layer_norm_tanh(x: Tensor, p: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the authors' first layer, tanh(layernorm(x) * gain + offset), with what its gradient needs.

    tanh(x) is 2 sigmoid(2 x) - 1, which torch computes in a third of the time.
    """
    normal, mean, inverse = torch.native_layer_norm(x, x.shape[-1:], None, None, LAYER_NORM_EPSILON)
    scaled = torch.addcmul(p["offset"], normal, p["gain"])
    return scaled.mul_(2.0).sigmoid_().mul_(2.0).sub_(1.0), x, mean, inverse


def _layer_norm_tanh_backward(
    grad: Tensor, out: Tensor, kept: list[Tensor], gain: Tensor, parts: dict[str, Tensor]
) -> Tensor:
    x, mean, inverse = kept
    grad = torch.ops.aten.tanh_backward(grad, out)
    if parts:
        normal = (x - mean) * inverse
        torch.sum(grad * normal, 1, keepdim=True, out=parts["gain"])
        torch.sum(grad, 1, keepdim=True, out=parts["offset"])
    wanted = [True, False, False]
    at_first: Tensor = torch.ops.aten.native_layer_norm_backward(
        grad * gain, x, x.shape[-1:], mean, inverse, None, None, wanted
    )[0]
    return at_first
