"""A policy as one file: made from an actor and proven, read back only if this package would have written it so."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto

from ompo_ros.files import UnfitFile, read_bounded
from ompo_ros.policy import errors
from ompo_ros.policy.actor import (
    LAYERNORM_TANH,
    MAX_ACT,
    MAX_HIDDEN,
    MAX_OBS,
    ActorShape,
    Float32Array,
    Tensors,
    shape_of,
    weights_digest,
)
from ompo_ros.policy.export import DERIVED, INPUT, MANIFEST_KEY, OPERATORS, OUTPUTS, to_model
from ompo_ros.policy.manifest import MAX_TEXT, Evaluation, Manifest, Training, describe, normalizer_of
from ompo_ros.policy.parity import check_parity
from ompo_ros.policy.wire import bytes_at
from ompo_ros.task.contract import Contract

# The largest actor, the longest manifest, and several times what the graph around them takes.
_LARGEST = ActorShape(LAYERNORM_TANH, MAX_OBS, MAX_HIDDEN, MAX_ACT).tensor_shapes().values()
MAX_BESIDE_WEIGHTS = MAX_TEXT + 16_384
MAX_BYTES = 4 * sum(map(math.prod, _LARGEST)) + MAX_BESIDE_WEIGHTS
MAX_TENSOR = max(map(math.prod, _LARGEST))  # values
_WEIGHTS = (
    ModelProto.GRAPH_FIELD_NUMBER,
    GraphProto.INITIALIZER_FIELD_NUMBER,
    TensorProto.RAW_DATA_FIELD_NUMBER,
)


@dataclass(frozen=True)
class Policy:
    """A policy that passed every check."""

    onnx: bytes
    manifest: Manifest
    tensors: Tensors

    @property
    def version(self) -> int:
        return self.manifest.version

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.onnx).hexdigest()

    def evaluated(self, evaluation: Evaluation) -> Policy:
        """The same weights in a file that tells how they did on the target."""
        return _assemble(self.tensors, dataclasses.replace(self.manifest, evaluation=evaluation))


def make_policy(
    tensors: Tensors,
    contract: Contract,
    *,
    version: int,
    stamp: float,
    training: Training,
    recorded: Float32Array | None = None,
    seed: int = 0,
) -> Policy:
    """Export an actor, prove the export on random and recorded observations, and let the file say so."""
    shape = shape_of(tensors)
    sizes, wanted = (shape.obs_dim, shape.act_dim), (contract.observation_size, contract.action_size)
    if sizes != wanted:
        raise errors.ContractMismatch(f"the actor's (obs, action) sizes are {sizes}, {contract.task} needs {wanted}")
    if recorded is None:
        recorded = np.empty((0, shape.obs_dim), np.float32)
    parity = check_parity(to_model(tensors).SerializeToString(), tensors, recorded, np.random.default_rng(seed))
    manifest = describe(tensors, contract, version=version, stamp=stamp, training=training, parity=parity)
    return _assemble(tensors, manifest)


def policy_bytes(path: Path) -> bytes:
    """Read a policy's file without trusting its size or its kind; raises RefusedPolicy or OSError."""
    try:
        return read_bounded(path, MAX_BYTES)
    except UnfitFile as error:
        raise errors.NotAPolicy(str(error)) from error


def read_policy(onnx: bytes, *, sha256: str | None = None) -> Policy:
    """Check a file from outside, and against the checksum that came with it; raises RefusedPolicy."""
    if len(onnx) > MAX_BYTES:
        raise errors.Oversized(f"the file has {len(onnx)} bytes, {MAX_BYTES} at most are read")
    if sha256 is not None and hashlib.sha256(onnx).hexdigest() != sha256:
        raise errors.ChecksumMismatch(f"the file's SHA-256 is not {sha256}: it is damaged or another one")
    beside = len(onnx) - bytes_at(memoryview(onnx), _WEIGHTS)
    if beside > MAX_BESIDE_WEIGHTS:
        raise errors.Oversized(f"the file has {beside} bytes beside its weights, {MAX_BESIDE_WEIGHTS} at most are read")
    model = _parse(onnx)
    _require_known_operators(model.graph)
    _require_interface(model.graph)
    tensors = _tensors(model.graph)
    found = _manifest(model, tensors)
    if to_model(tensors, found.to_json()).SerializeToString() != onnx:
        raise errors.NotAPolicy("the graph is not one that this release exports: export the actor again")
    return Policy(onnx, found, tensors)


def _assemble(tensors: Tensors, manifest: Manifest) -> Policy:
    return Policy(to_model(tensors, manifest.to_json()).SerializeToString(), manifest, tensors)


def _parse(onnx: bytes) -> ModelProto:
    try:
        model = ModelProto()
        model.ParseFromString(onnx)
        return model
    except (DecodeError, ValueError) as error:
        raise errors.NotAPolicy(f"the file is no ONNX model: {error}") from error


def _require_known_operators(graph: GraphProto) -> None:
    for node in graph.node:
        if node.domain or node.op_type not in OPERATORS:
            name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
            raise errors.UnknownOperator(f"operator {name!r} is none of {', '.join(sorted(OPERATORS))}")


def _require_interface(graph: GraphProto) -> None:
    for kind, infos, names in (("inputs", graph.input, (INPUT,)), ("outputs", graph.output, OUTPUTS)):
        if [info.name for info in infos] != list(names):
            raise errors.WrongInterface(f"its {kind} are {[info.name for info in infos]}, {list(names)} are needed")
        for info in infos:
            if not _is_float_rows(info):
                raise errors.WrongInterface(f"{info.name!r} is not float32 of shape (batch, size)")


def _is_float_rows(info: ValueInfoProto) -> bool:
    kind = info.type.tensor_type
    return kind.elem_type == TensorProto.FLOAT and len(kind.shape.dim) == 2


def _tensors(graph: GraphProto) -> dict[str, Float32Array]:
    if graph.sparse_initializer:
        raise errors.SparseTensor(f"tensor {graph.sparse_initializer[0].values.name!r} is sparse")
    tensors: dict[str, Float32Array] = {}
    for stored in graph.initializer:
        _require_text(stored.name)
        if stored.data_location != TensorProto.DEFAULT or stored.external_data:
            raise errors.ExternalData(f"tensor {stored.name!r} lies outside the file")
        size = math.prod(stored.dims)
        if any(length < 0 for length in stored.dims) or size > MAX_TENSOR:
            raise errors.Oversized(f"tensor {stored.name!r} of shape {list(stored.dims)}: {MAX_TENSOR} values at most")
        if stored.name in DERIVED:
            continue
        if stored.data_type != TensorProto.FLOAT or len(stored.raw_data) != 4 * size:
            raise errors.InvalidWeights(f"tensor {stored.name!r} does not hold {size} raw float32 values")
        tensors[stored.name] = np.frombuffer(stored.raw_data, "<f4").reshape(tuple(stored.dims))
    return tensors


def _require_text(value: object) -> None:
    """Protobuf hands out text that is no UTF-8 as bytes."""
    if not isinstance(value, str):
        raise errors.NotAPolicy(f"{value!r:.40} is no text")


def _manifest(model: ModelProto, tensors: Tensors) -> Manifest:
    """The manifest inside the file, after checking that it speaks of these weights."""
    texts = [entry.value for entry in model.metadata_props if entry.key == MANIFEST_KEY]
    if len(texts) != 1:
        raise errors.InvalidManifest(f"the file holds {len(texts)} manifests under {MANIFEST_KEY!r}, 1 is needed")
    _require_text(texts[0])
    manifest = Manifest.from_json(texts[0])
    if manifest.to_json() != texts[0]:
        raise errors.InvalidManifest("manifest: is not written as this release writes it, or holds control characters")
    shape, contract = shape_of(tensors), manifest.contract
    facts = {
        "architecture": (manifest.architecture, shape.architecture),
        "hidden": (manifest.hidden, shape.hidden),
        "contract.observation": (contract.observation_size, shape.obs_dim),
        "contract.action": (contract.action_size, shape.act_dim),
        "normalizer": (manifest.normalizer, normalizer_of(tensors)),
        "weights_sha256": (manifest.weights_sha256, weights_digest(tensors)),
    }
    for name, (said, true) in facts.items():
        if said != true:
            raise errors.InvalidManifest(f"manifest: {name} does not agree with the weights in the file")
    return manifest
