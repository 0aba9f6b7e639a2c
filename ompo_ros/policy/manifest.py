"""What a policy's file says about itself: for whom it is, where it comes from, how well it was proven."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime

import ompo_ros
from ompo_ros.policy.actor import ARCHITECTURES, Actor
from ompo_ros.policy.errors import InvalidManifest
from ompo_ros.policy.graph import OPSET, Parity
from ompo_ros.policy.records import DecodeError, decode
from ompo_ros.task.acting import Evaluation
from ompo_ros.task.contract import Contract

FORMAT = 1
MAX_TEXT = 262_144  # characters
MAX_STAMP = 2.0**33  # seconds since the epoch, either way
MAX_COUNT = 2**64  # of updates, steps


@dataclass(frozen=True)
class ObservationScaling:
    """Observations enter the network as `clip((obs - mean) * scale, -clip, clip)`; the graph does it itself."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    clip: float


@dataclass(frozen=True)
class Training:
    """How much learning is behind the weights."""

    updates: int
    target_steps: int

    def __post_init__(self) -> None:
        if not (0 <= self.updates < MAX_COUNT and 0 <= self.target_steps < MAX_COUNT):
            raise ValueError("updates and target_steps must be counts of 64 bits")


@dataclass(frozen=True)
class Manifest:
    """The whole of it; `contract` holds names, order, units, scale, limits and rate."""

    format: int
    version: int
    stamp: float  # seconds since the epoch when the learner took the weights
    architecture: str
    hidden: int
    weights_sha256: str
    contract: Contract
    normalizer: ObservationScaling
    training: Training
    parity: Parity
    evaluation: Evaluation | None
    software: dict[str, str]

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format} is not {FORMAT}, the one this release reads")
        if not 1 <= self.version < 2**32:
            raise ValueError(f"version {self.version} is not between 1 and {2**32 - 1}")
        if not abs(self.stamp) < MAX_STAMP:
            raise ValueError(f"stamp {self.stamp:g} is no time of this age")
        if self.architecture not in ARCHITECTURES:
            raise ValueError(f"architecture {self.architecture!r} is none of {', '.join(ARCHITECTURES)}")

    def to_json(self) -> str:
        """Write the one form in which a manifest travels: equal manifests, equal text."""
        return json.dumps(self, default=vars, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read what `to_json` wrote; anything else is refused with the name of the field."""
        if len(text) > MAX_TEXT:
            raise InvalidManifest(f"manifest: {len(text)} characters, {MAX_TEXT} at most are read")
        try:
            return decode(cls, json.loads(text))
        except (DecodeError, ValueError, RecursionError) as error:
            raise InvalidManifest(f"manifest: {error}") from error


def describe(
    actor: Actor, contract: Contract, *, version: int, stamp: float, training: Training, parity: Parity
) -> Manifest:
    """Make the manifest of an actor exported here and now."""
    return Manifest(
        format=FORMAT,
        version=version,
        stamp=stamp,
        architecture=actor.shape.architecture,
        hidden=actor.shape.hidden,
        weights_sha256=actor.sha256,
        contract=contract,
        normalizer=observation_scaling(actor),
        training=training,
        parity=parity,
        evaluation=None,
        software=software_versions(),
    )


def observation_scaling(actor: Actor) -> ObservationScaling:
    """The normalizer among an actor's tensors, as numbers a person can read."""
    mean, scale = (tuple(map(float, actor.tensors[name])) for name in ("obs_mean", "obs_scale"))
    return ObservationScaling(mean, scale, float(actor.tensors["obs_clip"]))


def software_versions() -> dict[str, str]:
    """Versions of everything that had a hand in the export."""
    return {
        "ompo_ros": ompo_ros.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "onnx": onnx.__version__,
        "onnxruntime": onnxruntime.__version__,
        "opset": str(OPSET),
    }
