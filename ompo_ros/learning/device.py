"""Where and how the learner computes: device, random numbers, target networks, optional compilation."""

from __future__ import annotations

import logging
from collections.abc import Callable

import torch
from torch import Tensor, nn

_log = logging.getLogger(__name__)


def resolve(name: str) -> torch.device:
    """Turn `auto`, `cpu` or `cuda:N` into an existing device; an error lists them."""
    if name == "auto":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    known = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    wanted = "cuda:0" if name == "cuda" else name
    if wanted not in known:
        raise ValueError(f"device: {name!r} is not available; choose auto, {', '.join(known)}")
    return torch.device(wanted)


def generator(device: torch.device, seed: int) -> torch.Generator:
    """Make a learner's own random generator, which is stored in its checkpoints."""
    return torch.Generator(device).manual_seed(seed)


def track(target: nn.Module, source: nn.Module, tau: float) -> None:
    """Move target networks a step towards the learned ones, all tensors at once."""
    with torch.no_grad():
        torch._foreach_lerp_(list(target.parameters()), list(source.parameters()), tau)


def compiled(module: nn.Module, example: Tensor) -> None:
    """Compile a module's forward pass with torch.compile; if that fails, log why and stay eager."""
    eager: Callable[[Tensor], Tensor] = module.forward
    try:
        module.forward = torch.compile(eager, dynamic=False)
        module(example).sum().backward()
    except Exception as reason:  # the compiler's own errors have no common base
        module.forward = eager
        first_line = (str(reason).strip().splitlines() or [type(reason).__name__])[0]
        _log.warning("torch.compile is not usable here, running eagerly: %s", first_line)
    finally:
        module.zero_grad(set_to_none=True)
