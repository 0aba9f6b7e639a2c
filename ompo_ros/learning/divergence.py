"""The f-divergence of the paper, f(x) = |x - 1|^p / p, and its conjugate f*(y) = |y|^q / q + y."""

from __future__ import annotations

import torch
from torch import Tensor


def dual_order(q: float) -> float:
    """Give p with 1/p + 1/q = 1."""
    return q / (q - 1.0)


def f(x: Tensor, q: float) -> Tensor:
    """Generate the divergence: D_f(p || b) = E_b[f(p / b)]."""
    p = dual_order(q)
    return (x - 1.0).abs().pow(p) / p


def conjugate(y: Tensor, q: float) -> Tensor:
    """f*(y) = max_x xy - f(x)."""
    return power(y, q) + y


def conjugate_slope(y: Tensor, q: float) -> Tensor:
    """f*'(y): the density ratio x at which the maximum is attained."""
    return power_slope(y, q) + 1.0


def power(y: Tensor, q: float) -> Tensor:
    """Give |y|^q / q, whose gradient is finite at zero too."""
    return y.abs().pow(q) / q


def power_slope(y: Tensor, q: float) -> Tensor:
    """Differentiate |y|^q / q: sign(y) |y|^(q - 1)."""
    return torch.copysign(y.abs().pow(q - 1.0), y)
