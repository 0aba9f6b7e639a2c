"""Actors as a learner would send them, and policies made of them."""

from __future__ import annotations

import numpy as np

from ompo_ros.policy.actor import Actor, ActorShape
from ompo_ros.policy.artifact import CheckedPolicy, make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.task.contract import Contract
from ompo_ros.task.tasks import Task

REACH = Task("reach", "dense").contract


def make_tensors(
    architecture: str = "elu",
    seed: int = 0,
    *,
    obs_dim: int = 20,
    hidden: int = 32,
    act_dim: int = 7,
    spread: float = 0.2,
) -> dict[str, np.ndarray]:
    """An actor as a learner would send it, with a normalizer and a compensation that do something."""
    rng = np.random.default_rng(seed)
    shapes = ActorShape(architecture, obs_dim, hidden, act_dim).tensor_shapes()
    tensors = {name: np.asarray(rng.normal(0.0, spread, shape), np.float32) for name, shape in shapes.items()}
    tensors["obs_scale"] = np.asarray(rng.uniform(2.5, 20.0, obs_dim) * spread, np.float32)
    tensors["action_gain"] = np.asarray(rng.uniform(0.6, 1.4, act_dim), np.float32)
    limits = {"obs_clip": 10.0, "log_std_min": -20.0, "log_std_max": 2.0}
    return tensors | {name: np.float32(value) * np.ones((), np.float32) for name, value in limits.items()}


def make(version: int = 1, contract: Contract = REACH, **options) -> CheckedPolicy:
    tensors = make_tensors(seed=version, **options)
    return make_policy(Actor(tensors), contract, version=version, stamp=1.0, training=Training(10 * version, version))
