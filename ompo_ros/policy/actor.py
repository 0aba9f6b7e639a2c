"""An actor as numbers: its tensors by name, checked once, and what the network computes by definition."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.policy.errors import InvalidWeights

Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
Tensors = Mapping[str, Float32Array]

ELU, LAYERNORM_TANH = "elu", "layernorm_tanh"  # of the first layer; the second is always ELU
ARCHITECTURES: Final = (ELU, LAYERNORM_TANH)
LAYER_NORM_EPSILON: Final = 1e-5
MAX_OBS, MAX_HIDDEN, MAX_ACT = 256, 1_024, 64  # several times what an arm needs
LOG_STD_RANGE: Final = (-20.0, 2.0)  # beyond it an exploring action is the mean, or a coin flip between the limits


@dataclass(frozen=True)
class ActorShape:
    """Everything about an actor but its numbers."""

    architecture: str
    obs_dim: int
    hidden: int
    act_dim: int

    def tensor_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name the tensors in the order they are stored, with `x @ weight + bias` a layer."""
        o, h, a = self.obs_dim, self.hidden, self.act_dim
        shapes: dict[str, tuple[int, ...]] = {"obs_mean": (o,), "obs_scale": (o,), "obs_clip": ()}
        shapes |= {"log_std_min": (), "log_std_max": (), "action_gain": (a,), "action_bias": (a,)}
        shapes |= {"weight_0": (o, h), "bias_0": (h,), "weight_1": (h, h), "bias_1": (h,)}
        shapes |= {"weight_2": (h, 2 * a), "bias_2": (2 * a,)}
        return shapes | ({"gain": (h,), "offset": (h,)} if self.architecture == LAYERNORM_TANH else {})


@dataclass(frozen=True, eq=False)
class Actor:
    """Exactly the tensors of a shape, float32 and finite: checked when made, so that nobody checks them again."""

    tensors: Tensors
    shape: ActorShape = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _require_actor(self.tensors))

    @cached_property
    def sha256(self) -> str:
        """Identifies the numbers themselves, whatever file they travel in."""
        digest = hashlib.sha256()
        for name in self.shape.tensor_shapes():
            digest.update(name.encode() + b"\0" + self.tensors[name].astype("<f4", copy=False).tobytes())
        return digest.hexdigest()

    def forward(self, obs: Float32Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Action, mean and log_std of rows of observations in double precision, written from the definition."""
        t = {name: np.asarray(values, np.float64) for name, values in self.tensors.items()}
        x = (np.asarray(obs, np.float64) - t["obs_mean"]) * t["obs_scale"]
        x = np.clip(x, -t["obs_clip"], t["obs_clip"]) @ t["weight_0"] + t["bias_0"]
        if self.shape.architecture == LAYERNORM_TANH:
            centred = x - x.mean(-1, keepdims=True)
            deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + LAYER_NORM_EPSILON)
            x = np.tanh(centred / deviation * t["gain"] + t["offset"])
        else:
            x = _elu(x)
        y = _elu(x @ t["weight_1"] + t["bias_1"]) @ t["weight_2"] + t["bias_2"]
        mean, log_std = np.split(y, 2, axis=-1)
        return self.sent(np.tanh(mean)), mean, np.clip(log_std, t["log_std_min"], t["log_std_max"])

    def sent(self, effective: Float64Array) -> Float64Array:
        """The action to send, so that `effective` reaches the joints of drives with these gains and biases."""
        gain, bias = (np.asarray(self.tensors[name], np.float64) for name in ("action_gain", "action_bias"))
        return np.clip((effective - bias) / gain, -1.0, 1.0)


def _require_actor(tensors: Tensors) -> ActorShape:
    """The shape that tensors imply, if they are all there, rightly shaped and finite."""
    shape = _implied_shape(tensors)
    expected = shape.tensor_shapes()
    if set(tensors) != set(expected):
        odd = min(set(tensors) ^ set(expected))
        raise InvalidWeights(f"{odd} is {'unknown' if odd in tensors else 'missing'}")
    for name, wanted in expected.items():
        if tensors[name].shape != wanted or tensors[name].dtype != np.float32:
            found = f"{tensors[name].dtype} {tensors[name].shape}"
            raise InvalidWeights(f"{name} is {found}, float32 {wanted} is needed")
        if not np.isfinite(tensors[name]).all():
            raise InvalidWeights(f"{name} is not finite")
    low, high = float(tensors["log_std_min"]), float(tensors["log_std_max"])
    least, most = LOG_STD_RANGE
    if not least <= low <= high <= most:
        raise InvalidWeights(
            f"log_std_min {low:g} and log_std_max {high:g} are not ordered within {least:g} to {most:g}"
        )
    if not (tensors["action_gain"] > 0.0).all():
        raise InvalidWeights("action_gain is not positive")
    return shape


def _implied_shape(tensors: Tensors) -> ActorShape:
    for name in ("weight_0", "weight_2"):
        if name not in tensors or tensors[name].ndim != 2:
            raise InvalidWeights(f"{name} is missing or no matrix: send the tensors that Agent.actor_tensors() gives")
    (obs_dim, hidden), act_dim = tensors["weight_0"].shape, tensors["weight_2"].shape[1] // 2
    limits = {"observation": (obs_dim, MAX_OBS), "hidden layers": (hidden, MAX_HIDDEN), "action": (act_dim, MAX_ACT)}
    for name, (size, most) in limits.items():
        if not 0 < size <= most:
            raise InvalidWeights(f"{name} of {size} values, 1 to {most} are allowed")
    return ActorShape(LAYERNORM_TANH if "gain" in tensors else ELU, obs_dim, hidden, act_dim)


def _elu(x: Float64Array) -> Float64Array:
    return np.asarray(np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))))
