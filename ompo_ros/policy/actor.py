"""The actor's tensors by name, and the sizes and the architecture they imply."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ompo_ros.policy.errors import InvalidWeights

Float32Array = NDArray[np.float32]
Tensors = Mapping[str, Float32Array]

ELU, LAYERNORM_TANH = "elu", "layernorm_tanh"  # of the first layer; the second is always ELU
ARCHITECTURES = (ELU, LAYERNORM_TANH)
LAYER_NORM_EPSILON = 1e-5
MAX_OBS, MAX_HIDDEN, MAX_ACT = 256, 1_024, 64  # several times what an arm needs
LOG_STD_RANGE = (-20.0, 2.0)  # beyond it an exploring action is the mean, or a coin flip between the limits


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
        shapes |= {"log_std_min": (), "log_std_max": ()}
        shapes |= {"weight_0": (o, h), "bias_0": (h,), "weight_1": (h, h), "bias_1": (h,)}
        shapes |= {"weight_2": (h, 2 * a), "bias_2": (2 * a,)}
        return shapes | ({"gain": (h,), "offset": (h,)} if self.architecture == LAYERNORM_TANH else {})


def shape_of(tensors: Tensors) -> ActorShape:
    """Tell an actor's shape, after checking that exactly its tensors are there, rightly shaped and finite."""
    for name in ("weight_0", "weight_2"):
        if name not in tensors or tensors[name].ndim != 2:
            raise InvalidWeights(f"{name} is missing or no matrix: send the tensors that Agent.actor_tensors() gives")
    (obs_dim, hidden), outputs = tensors["weight_0"].shape, tensors["weight_2"].shape[1]
    shape = ActorShape(LAYERNORM_TANH if "gain" in tensors else ELU, obs_dim, hidden, outputs // 2)
    limits = {
        "observation": (obs_dim, MAX_OBS),
        "hidden layers": (hidden, MAX_HIDDEN),
        "action": (outputs // 2, MAX_ACT),
    }
    for name, (size, most) in limits.items():
        if not 0 < size <= most:
            raise InvalidWeights(f"{name} of {size} values, 1 to {most} are allowed")
    expected = shape.tensor_shapes()
    if set(tensors) != set(expected):
        odd = sorted(set(tensors) ^ set(expected))
        raise InvalidWeights(f"{odd[0]} is {'unknown' if odd[0] in tensors else 'missing'}")
    for name, wanted in expected.items():
        if tensors[name].shape != wanted or tensors[name].dtype != np.float32:
            found = f"{tensors[name].dtype} {tensors[name].shape}"
            raise InvalidWeights(f"{name} is {found}, float32 {wanted} is needed")
        if not np.isfinite(tensors[name]).all():
            raise InvalidWeights(f"{name} is not finite")
    _require_deviations(float(tensors["log_std_min"]), float(tensors["log_std_max"]))
    return shape


def _require_deviations(low: float, high: float) -> None:
    least, most = LOG_STD_RANGE
    if not least <= low <= high <= most:
        raise InvalidWeights(
            f"log_std_min {low:g} and log_std_max {high:g} are not ordered within {least:g} to {most:g}"
        )


def weights_digest(tensors: Tensors) -> str:
    """Identify the numbers themselves, whatever file they travel in."""
    digest = hashlib.sha256()
    for name in shape_of(tensors).tensor_shapes():
        digest.update(name.encode() + b"\0" + tensors[name].astype("<f4").tobytes())
    return digest.hexdigest()
