"""A learner's whole state as named arrays and counters, and back: what checkpoints are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.normalization import RunningStatistics
from ompo_ros.transitions import Origin

Arrays = dict[str, NDArray[Any]]


def agent_arrays(agent: Agent) -> Arrays:
    """Networks, temperature, optimisers, normalisers and random states."""
    arrays = {name: _to_numpy(tensor) for name, tensor in _tensors(agent)}
    for name, statistics in _statistics(agent).items():
        arrays[f"{name}.mean"], arrays[f"{name}.variance"] = statistics.mean, statistics.variance
    for name, rng in _generators(agent).items():
        arrays[name] = _to_numpy(rng.get_state())
    return arrays


def buffer_arrays(agent: Agent) -> Arrays:
    """Give the used rows of every buffer."""
    return {
        f"{ring_name}.{column}": _to_numpy(values)
        for ring_name, ring in agent.experience.rings().items()
        for column, values in ring.used().items()
    }


def counters(agent: Agent) -> dict[str, Any]:
    """Everything whole-numbered."""
    experience = agent.experience
    return {
        "updates": agent.updates,
        "rings": {
            name: {"size": ring.size, "cursor": ring.cursor, "added": ring.added}
            for name, ring in experience.rings().items()
        },
        "seen": {origin.name: count for origin, count in experience.seen.items()},
        "round_waits": experience.round_waits,
        "rounds_skipped": experience.rounds_skipped,
        "unrated": experience.unrated,
        "initial_from_target": experience.initial_from_target,
        "statistics": {name: statistics.count for name, statistics in _statistics(agent).items()},
        "flags": agent.flags(),
    }


def restore_state(agent: Agent, arrays: Arrays, counted: dict[str, Any]) -> None:
    """Put the learner into the state that was taken."""
    for name, tensor in _tensors(agent):
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(arrays[name]))
    for name, statistics in _statistics(agent).items():
        statistics.count = counted["statistics"][name]
        statistics.mean, statistics.variance = arrays[f"{name}.mean"], arrays[f"{name}.variance"]
    agent.normalizer.refresh()
    for name, rng in _generators(agent).items():
        rng.set_state(torch.from_numpy(arrays[name]))
    _restore_experience(agent, arrays, counted)
    agent.updates = counted["updates"]
    agent.set_flags(counted["flags"])


def _restore_experience(agent: Agent, arrays: Arrays, counted: dict[str, Any]) -> None:
    experience = agent.experience
    for name, ring in experience.rings().items():
        kept = counted["rings"][name]
        ring.size, ring.cursor, ring.added = kept["size"], kept["cursor"], kept["added"]
        for column, values in ring.used().items():
            values.copy_(torch.from_numpy(arrays[f"{name}.{column}"]))
    experience.seen = {Origin[name]: count for name, count in counted["seen"].items()}
    experience.round_waits = counted["round_waits"]
    experience.rounds_skipped = counted["rounds_skipped"]
    experience.unrated = counted["unrated"]
    experience.initial_from_target = counted["initial_from_target"]
    experience.forget_places()


def _tensors(agent: Agent) -> Iterator[tuple[str, Tensor]]:
    for name, module in agent.modules().items():
        for parameter_name, parameter in module.named_parameters():
            yield f"{name}.{parameter_name}", parameter.detach()
    yield "log_temperature", agent.log_temperature.detach()
    for name, optimizer in agent.optimizers().items():
        for key, moment in optimizer.state().items():
            yield f"{name}_optimizer.{key}", moment


def _statistics(agent: Agent) -> dict[str, RunningStatistics]:
    return {"observations": agent.normalizer.statistics, "rewards": agent.reward.statistics}


def _generators(agent: Agent) -> dict[str, torch.Generator]:
    return {"learning_rng": agent.learning_rng, "acting_rng": agent.acting_rng}


def _to_numpy(tensor: Tensor) -> NDArray[Any]:
    values: NDArray[Any] = tensor.detach().cpu().contiguous().numpy()
    return values
