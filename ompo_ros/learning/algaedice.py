"""AlgaeDICE (Nachum et al. 2019): the objective OMPO is based on, without R, with f(x) = |x|^p / p and plain reward."""

from __future__ import annotations

from dataclasses import replace

import torch

from ompo_ros.learning.config import Config
from ompo_ros.learning.ompo import OMPO


class AlgaeDICE(OMPO):
    """Matches policies only: max over π, min over ν of (1 - γ) E[ν(s0, a0)] + α E[f*((r + γν' - ν) / α)]."""

    def __init__(self, config: Config, obs_dim: int, act_dim: int, seed: int, device: torch.device) -> None:
        own = replace(
            config,
            discrepancy="none",
            reward="raw",
            linear_part=False,
            q=config.algaedice_q,
            alpha=config.algaedice_alpha,
        )
        super().__init__(own, obs_dim, act_dim, seed, device)
