"""A learner's networks without buffers and optimisers, to start a run on another domain."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ompo_ros.learning.agent import Agent

NETWORKS = ("actor", "critic")
TEMPERATURE = "log_temperature"
COUNT, MEAN, VARIANCE = "observations.count", "observations.mean", "observations.variance"


class UnusablePretraining(ValueError):
    """A file that does not fit the learner; the message names the difference."""


def save_networks(agent: Agent, path: Path) -> None:
    """Write actor, critics, temperature and, if used, the observation statistics; whole or not at all."""
    unfinished = path.with_suffix(".unfinished")
    save_file(_tensors(agent), unfinished)
    unfinished.replace(path)


def load_networks(agent: Agent, path: Path) -> None:
    """Load the file's networks into the learner; nothing changes unless all of it fits."""
    try:
        found = load_file(path)
    except (OSError, SafetensorError) as error:
        raise UnusablePretraining(f"{path} cannot be read: {error}") from error
    own = _tensors(agent)
    if found.keys() != own.keys():
        raise UnusablePretraining(f"{path} holds other networks: {sorted(found.keys() ^ own.keys())}")
    for name, tensor in own.items():
        if found[name].shape != tensor.shape or not bool(found[name].isfinite().all()):
            raise UnusablePretraining(
                f"{path}: {name} is {tuple(found[name].shape)}, finite numbers in {tuple(tensor.shape)} are needed"
            )
    with torch.no_grad():
        for name, tensor in _learned(agent).items():
            tensor.copy_(found[name])
    if agent.normalizer.enabled:
        statistics = agent.normalizer.statistics
        statistics.count = int(found[COUNT])
        statistics.mean, statistics.variance = found[MEAN].numpy(), found[VARIANCE].numpy()
        agent.normalizer.refresh()
    agent.restart_copies()


def _tensors(agent: Agent) -> dict[str, torch.Tensor]:
    tensors = _learned(agent)
    if agent.normalizer.enabled:
        statistics = agent.normalizer.statistics
        tensors[COUNT] = torch.tensor(statistics.count)
        tensors[MEAN], tensors[VARIANCE] = torch.tensor(statistics.mean), torch.tensor(statistics.variance)
    return tensors


def _learned(agent: Agent) -> dict[str, torch.Tensor]:
    modules = agent.modules()
    tensors = {f"{m}.{name}": tensor for m in NETWORKS for name, tensor in modules[m].state_dict().items()}
    return {**tensors, TEMPERATURE: agent.log_temperature.data}
