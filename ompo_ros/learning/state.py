"""Converts a learner's whole state to named arrays and counters, and back, for checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.normalization import RunningStatistics
from ompo_ros.transitions import Origin

Arrays = dict[str, NDArray[Any]]
GAIN, BIAS = "compensation.gain", "compensation.bias"


def agent_arrays(agent: Agent) -> Arrays:
    """Networks, temperature, optimisers, normalisers and random states."""
    arrays = {name: _to_numpy(tensor) for name, tensor in learned_tensors(agent)}
    for name, statistics in learned_statistics(agent).items():
        arrays[f"{name}.mean"], arrays[f"{name}.variance"] = statistics.mean, statistics.variance
    for name, rng in _generators(agent).items():
        arrays[name] = _to_numpy(rng.get_state())
    arrays[GAIN], arrays[BIAS] = _to_numpy(agent.compensation.gain), _to_numpy(agent.compensation.bias)
    return arrays


def buffer_arrays(agent: Agent) -> Arrays:
    """Give the used rows of every buffer."""
    return {
        f"{ring_name}.{column}": _to_numpy(values)
        for ring_name, ring in agent.experience.rings().items()
        for column, values in ring.used().items()
    }


def counters(agent: Agent) -> dict[str, Any]:
    """All counters."""
    experience = agent.experience
    return {
        "updates": agent.updates,
        "rings": {
            name: {"size": ring.size, "cursor": ring.cursor, "added": ring.added}
            for name, ring in experience.rings().items()
        },
        "seen": {origin.name: count for origin, count in experience.seen.items()},
        "recalled": experience.recalled,
        "round_waits": experience.round_waits,
        "rounds_skipped": experience.rounds_skipped,
        "unrated": experience.unrated,
        "since_round": experience.since_round,
        "initial_from_target": experience.initial_from_target,
        "statistics": {name: statistics.count for name, statistics in learned_statistics(agent).items()},
        "flags": agent.flags(),
    }


class UnfitState(ValueError):
    """A state of another learner; the message names the difference."""


def check_state(agent: Agent, arrays: Arrays, counted: dict[str, Any]) -> None:
    """Raise UnfitState unless `restore_state` can use all of it; the learner does not change."""
    _require_like("counters", counted, counters(agent))
    forms = {name: (values.shape, values.dtype) for name, values in agent_arrays(agent).items()}
    for ring_name, ring in agent.experience.rings().items():
        kept = counted["rings"][ring_name]
        if kept["size"] > ring.capacity or kept["cursor"] >= ring.capacity:
            raise UnfitState(f"{ring.name} has {kept['size']} rows, {ring.capacity} fit")
        for column, values in ring.used().items():
            shape = (kept["size"], *values.shape[1:])
            forms[f"{ring_name}.{column}"] = (shape, _to_numpy(values[:0]).dtype)
    for name, (shape, dtype) in forms.items():
        found = arrays.get(name)
        if found is None:
            raise UnfitState(f"holds no {name}")
        if found.shape != shape or found.dtype != dtype:
            raise UnfitState(f"{name} is {found.dtype} {found.shape}, {dtype} {shape} is needed")
        if not np.isfinite(found).all():
            raise UnfitState(f"{name} is not finite")
    for name, rng in _generators(agent).items():
        try:
            torch.Generator(rng.device).set_state(torch.from_numpy(arrays[name]))
        except RuntimeError as reason:
            raise UnfitState(f"{name} is no state of random numbers") from reason


def _require_like(name: str, found: Any, own: Any) -> None:  # noqa: ANN401 (JSON)
    """Check counters from a file against the learner's: the same names and types, nothing negative."""
    if type(found) is not type(own):
        raise UnfitState(f"{name} is {found!r}, one such as {own!r} is needed")
    if isinstance(own, dict):
        if found.keys() != own.keys():
            raise UnfitState(f"{name} has {sorted(found)}, {sorted(own)} are needed")
        for key, value in own.items():
            _require_like(f"{name}.{key}", found[key], value)
    elif found < 0:
        raise UnfitState(f"{name} is {found}")


def restore_state(agent: Agent, arrays: Arrays, counted: dict[str, Any]) -> None:
    """Restore a state that `check_state` has accepted."""
    for name, tensor in learned_tensors(agent):
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(arrays[name]))
    for name, statistics in learned_statistics(agent).items():
        statistics.count = counted["statistics"][name]
        statistics.mean, statistics.variance = arrays[f"{name}.mean"], arrays[f"{name}.variance"]
    agent.normalizer.refresh()
    agent.compensation.set(arrays[GAIN], arrays[BIAS])
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
    experience.recalled = counted["recalled"]
    experience.round_waits = counted["round_waits"]
    experience.rounds_skipped = counted["rounds_skipped"]
    experience.unrated = counted["unrated"]
    experience.since_round = counted["since_round"]
    experience.initial_from_target = counted["initial_from_target"]
    experience.forget_places()
    experience.weigh_all()


def learned_tensors(agent: Agent) -> Iterator[tuple[str, Tensor]]:
    """All tensors that updates change: networks, temperature and the optimisers' moments."""
    for name, module in agent.modules().items():
        for parameter_name, parameter in module.named_parameters():
            yield f"{name}.{parameter_name}", parameter.detach()
    yield "log_temperature", agent.log_temperature.detach()
    for name, optimizer in agent.optimizers().items():
        for key, moment in optimizer.state().items():
            yield f"{name}_optimizer.{key}", moment


def learned_statistics(agent: Agent) -> dict[str, RunningStatistics]:
    """The running statistics of the data."""
    return {"observations": agent.normalizer.statistics, "rewards": agent.reward.statistics}


def _generators(agent: Agent) -> dict[str, torch.Generator]:
    return {"learning_rng": agent.learning_rng, "acting_rng": agent.acting_rng}


def _to_numpy(tensor: Tensor) -> NDArray[Any]:
    values: NDArray[Any] = tensor.detach().cpu().contiguous().numpy()
    return values
