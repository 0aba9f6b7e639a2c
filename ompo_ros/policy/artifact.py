"""A policy as one file: made from an actor and proven, read back only if this package would have written it so."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper

from ompo_ros.files import UnfitFile, read_bounded
from ompo_ros.policy import errors
from ompo_ros.policy.actor import LAYERNORM_TANH, MAX_ACT, MAX_HIDDEN, MAX_OBS, Actor, ActorShape, Float32Array
from ompo_ros.policy.graph import DERIVED, INPUT, OPERATORS, OUTPUTS, check_parity, to_model
from ompo_ros.policy.manifest import MAX_TEXT, Manifest, Training, describe, observation_scaling
from ompo_ros.task.acting import Evaluation
from ompo_ros.task.contract import Contract

MANIFEST_KEY: Final = "ompo_manifest"
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
MAX_PARTS: Final = 64  # fields of any message on the way to the weights; a policy has about 30
_VARINT, _BYTES = 0, 2  # kinds of fields in protobuf's wire format
_FIXED: Final = {1: 8, 5: 4}  # bytes, by kind


@dataclass(frozen=True, eq=False)
class CheckedPolicy:
    """A policy that passed every check: only `make_policy` and `read_policy` give one, and nobody checks it again."""

    onnx: bytes
    manifest: Manifest
    actor: Actor

    @property
    def version(self) -> int:
        return self.manifest.version

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.onnx).hexdigest()

    def evaluated(self, evaluation: Evaluation) -> CheckedPolicy:
        """The same weights in a file that says how they did on the target."""
        manifest = dataclasses.replace(self.manifest, evaluation=evaluation)
        return CheckedPolicy(_serialize(to_model(self.actor), manifest), manifest, self.actor)


def make_policy(
    actor: Actor,
    contract: Contract,
    *,
    version: int,
    stamp: float,
    training: Training,
    recorded: Float32Array | None = None,
    seed: int = 0,
) -> CheckedPolicy:
    """Export an actor, prove the export on random and recorded observations, and let the file say so."""
    shape = actor.shape
    sizes, wanted = (shape.obs_dim, shape.act_dim), (contract.observation_size, contract.action_size)
    if sizes != wanted:
        raise errors.ContractMismatch(f"the actor's (obs, action) sizes are {sizes}, {contract.task} needs {wanted}")
    if recorded is None:
        recorded = np.empty((0, shape.obs_dim), np.float32)
    model = to_model(actor)
    parity = check_parity(model.SerializeToString(), actor, recorded, np.random.default_rng(seed))
    manifest = describe(actor, contract, version=version, stamp=stamp, training=training, parity=parity)
    return CheckedPolicy(_serialize(model, manifest), manifest, actor)


def policy_bytes(path: Path) -> bytes:
    """Read a policy's file without trusting its size or its kind; raises RefusedPolicy or OSError."""
    try:
        return read_bounded(path, MAX_BYTES)
    except UnfitFile as error:
        raise errors.NotAPolicy(str(error)) from error


def read_policy(onnx: bytes, *, sha256: str | None = None) -> CheckedPolicy:
    """Check a file from outside, and against the checksum that came with it; raises RefusedPolicy."""
    if len(onnx) > MAX_BYTES:
        raise errors.Oversized(f"the file has {len(onnx)} bytes, {MAX_BYTES} at most are read")
    if sha256 is not None and hashlib.sha256(onnx).hexdigest() != sha256:
        raise errors.ChecksumMismatch(f"the file's SHA-256 is not {sha256}: it is damaged or another one")
    beside = len(onnx) - _bytes_at(memoryview(onnx), _WEIGHTS)
    if beside > MAX_BESIDE_WEIGHTS:
        raise errors.Oversized(f"the file has {beside} bytes beside its weights, {MAX_BESIDE_WEIGHTS} at most are read")
    model = _parse(onnx)
    _require_known_operators(model.graph)
    _require_interface(model.graph)
    actor = Actor(_tensors(model.graph))
    manifest = _manifest(model, actor)
    if _serialize(to_model(actor), manifest) != onnx:
        raise errors.NotAPolicy("the graph is not one that this release exports: export the actor again")
    return CheckedPolicy(onnx, manifest, actor)


def _serialize(model: ModelProto, manifest: Manifest) -> bytes:
    """A file's bytes: the graph, and the manifest as its metadata."""
    helper.set_model_props(model, {MANIFEST_KEY: manifest.to_json()})
    serialized: bytes = model.SerializeToString()
    return serialized


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
        if len(stored.dims) > 2 or any(length < 0 for length in stored.dims) or size > MAX_TENSOR:
            most = f"a matrix of {MAX_TENSOR} values at most is read"
            raise errors.Oversized(f"tensor {stored.name!r} of shape {list(stored.dims)}: {most}")
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


def _manifest(model: ModelProto, actor: Actor) -> Manifest:
    """The manifest inside the file, after checking that it speaks of these weights."""
    texts = [entry.value for entry in model.metadata_props if entry.key == MANIFEST_KEY]
    if len(texts) != 1:
        raise errors.InvalidManifest(f"the file holds {len(texts)} manifests under {MANIFEST_KEY!r}, 1 is needed")
    _require_text(texts[0])
    manifest = Manifest.from_json(texts[0])
    if manifest.to_json() != texts[0]:
        raise errors.InvalidManifest("manifest: is not written as this release writes it, or holds control characters")
    shape, contract = actor.shape, manifest.contract
    facts = {
        "architecture": (manifest.architecture, shape.architecture),
        "hidden": (manifest.hidden, shape.hidden),
        "contract.observation": (contract.observation_size, shape.obs_dim),
        "contract.action": (contract.action_size, shape.act_dim),
        "normalizer": (manifest.normalizer, observation_scaling(actor)),
        "weights_sha256": (manifest.weights_sha256, actor.sha256),
    }
    for name, (said, true) in facts.items():
        if said != true:
            raise errors.InvalidManifest(f"manifest: {name} does not agree with the weights in the file")
    return manifest


# -- protobuf's wire format, just far enough to know what a file would cost to parse: up to 85 times its size ----------


def _bytes_at(message: memoryview, path: Sequence[int]) -> int:
    """How many bytes lie in the fields that a path of field numbers leads to."""
    if not path:
        return len(message)
    return sum(_bytes_at(part, path[1:]) for number, part in _parts(message) if number == path[0])


def _parts(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    at = count = 0
    while at < len(message):
        count += 1
        if count > MAX_PARTS:
            raise errors.NotAPolicy(f"the file is no policy: a message in it has more than {MAX_PARTS} fields")
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _BYTES:
            size, at = _varint(message, at)
            yield tag >> 3, message[at : at + size]
            at += size
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise errors.NotAPolicy(f"the file is no ONNX model: it holds a field of kind {kind}")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte, and where it ends."""
    value = 0
    for shift, byte in enumerate(message[at : at + 10]):
        value |= (byte & 127) << 7 * shift
        if byte < 128:
            return value, at + shift + 1
    raise errors.NotAPolicy("the file is no ONNX model: it ends within a number")
