"""Proof that the exported graph is the actor: an independent forward pass in numpy, in double precision."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ompo_ros.policy.actor import LAYER_NORM_EPSILON, Float32Array, Tensors, shape_of
from ompo_ros.policy.engine import Engine
from ompo_ros.policy.errors import ParityFailure
from ompo_ros.policy.manifest import Parity

TOLERANCE = 1e-5
RANDOM_OBSERVATIONS = 256

Float64Array = NDArray[np.float64]


def forward(tensors: Tensors, obs: Float32Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Action, mean and log_std of rows of observations, written from the actor's definition."""
    t = {name: np.asarray(values, np.float64) for name, values in tensors.items()}
    x = (np.asarray(obs, np.float64) - t["obs_mean"]) * t["obs_scale"]
    x = np.clip(x, -t["obs_clip"], t["obs_clip"]) @ t["weight_0"] + t["bias_0"]
    if "gain" in t:
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + LAYER_NORM_EPSILON)
        x = np.tanh(centred / deviation * t["gain"] + t["offset"])
    else:
        x = _elu(x)
    y = _elu(x @ t["weight_1"] + t["bias_1"]) @ t["weight_2"] + t["bias_2"]
    mean, log_std = np.split(y, 2, axis=-1)
    return np.tanh(mean), mean, np.clip(log_std, t["log_std_min"], t["log_std_max"])


def check_parity(onnx: bytes, tensors: Tensors, recorded: Float32Array, rng: np.random.Generator) -> Parity:
    """Run graph and definition on random and recorded observations; raises ParityFailure above the tolerance."""
    shape = shape_of(tensors)
    obs = np.concatenate((random_observations(tensors, rng), recorded), dtype=np.float32)
    engine = Engine(onnx, len(obs), shape.obs_dim, shape.act_dim)
    engine.obs[:] = obs
    engine.run()
    _, mean, log_std = forward(tensors, obs)
    # Float32 itself is that much coarser where a layer's outputs are large; mean and log_std are halves of one layer.
    scale = max(1.0, float(np.abs(mean).max()))
    errors = {
        "mean": float(np.abs(engine.mean - mean).max()) / scale,
        "log_std": float(np.abs(engine.log_std - log_std).max()) / scale,
        "action": float(np.abs(engine.action - np.tanh(engine.mean.astype(np.float64))).max()),
    }
    worst = max(errors, key=lambda name: math.inf if math.isnan(errors[name]) else errors[name])
    if not errors[worst] <= TOLERANCE:
        raise ParityFailure(f"{worst} of the exported graph is off by {errors[worst]:.1e}, {TOLERANCE:.0e} is allowed")
    return Parity(errors[worst], len(obs) - len(recorded), len(recorded))


def random_observations(tensors: Tensors, rng: np.random.Generator, n: int = RANDOM_OBSERVATIONS) -> Float32Array:
    """Draw observations around the normalizer's mean, half of them far out where it clips."""
    mean, scale = tensors["obs_mean"], tensors["obs_scale"]
    deviations = rng.standard_normal((n, len(mean))) * np.where(np.arange(n) % 2, 1.0, 5.0)[:, None]
    safe = np.where(np.abs(scale) > np.finfo(np.float32).tiny, scale, 1.0)
    return np.asarray(mean + deviations / safe, np.float32)


def _elu(x: Float64Array) -> Float64Array:
    return np.asarray(np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))))
