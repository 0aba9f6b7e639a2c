"""From a config's algorithm name to a learner."""

from __future__ import annotations

import torch

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.algaedice import AlgaeDICE
from ompo_ros.learning.config import Config
from ompo_ros.learning.darc import DARC
from ompo_ros.learning.device import resolve
from ompo_ros.learning.ompo import OMPO
from ompo_ros.learning.sac import SAC
from ompo_ros.learning.sac_iw import SACIW
from ompo_ros.learning.td3 import TD3

ONE_THREAD_UP_TO = 512  # hidden units
_AGENTS: dict[str, type[Agent]] = {
    "ompo": OMPO,
    "sac": SAC,
    "td3": TD3,
    "algaedice": AlgaeDICE,
    "darc": DARC,
    "sac_iw": SACIW,
}


def make_agent(config: Config, obs_dim: int, act_dim: int, seed: int = 0, device: str = "auto") -> Agent:
    """Make the configured learner, repeatable from its seed."""
    for name, dim in (("obs_dim", obs_dim), ("act_dim", act_dim)):
        if dim < 1:
            raise ValueError(f"{name}: {dim} is not a positive number of dimensions")
    _set_threads(config)
    agent = _AGENTS[config.algorithm](config, obs_dim, act_dim, seed, resolve(device))
    if config.compile:
        agent.compile()
    return agent


def _set_threads(config: Config) -> None:
    """Small products cost more to distribute than to compute, and threads that wait for a busy core stall them all."""
    if config.threads:
        torch.set_num_threads(config.threads)
    elif config.hidden_size <= ONE_THREAD_UP_TO:
        torch.set_num_threads(1)
