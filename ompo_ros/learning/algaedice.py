"""AlgaeDICE (Nachum et al. 2019): the objective OMPO grew from, without R, with f(x) = |x|^p / p and plain reward."""

from __future__ import annotations

from dataclasses import replace

import torch

from ompo_ros.learning.config import Config
from ompo_ros.learning.objective import Objective
from ompo_ros.learning.ompo import OMPO


class AlgaeDICE(OMPO):
    """Matches policies only: max over π, min over ν of (1 - γ) E[ν(s0, a0)] + α E[f*((r + γν' - ν) / α)]."""

    def __init__(self, config: Config, obs_dim: int, act_dim: int, seed: int, device: torch.device) -> None:
        super().__init__(replace(config, discrepancy="none", reward="raw"), obs_dim, act_dim, seed, device)
        self.objective = replace(Objective.of(self.config), linear_part=False)
