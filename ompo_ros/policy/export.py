"""Actor tensors to a self-contained ONNX model by the `onnx` package alone: one graph per shape, then only weights."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from ompo_ros.policy.actor import LAYER_NORM_EPSILON, LAYERNORM_TANH, ActorShape, Tensors, shape_of

OPSET = 17  # the oldest with LayerNormalization; onnxruntime runs it since 1.12
IR_VERSION = 8
PRODUCER = "ompo_ros"
MANIFEST_KEY = "ompo_manifest"
INPUT = "obs"
OUTPUTS = ("action", "mean", "log_std")
OPERATORS = frozenset({"Sub", "Mul", "Clip", "Gemm", "Elu", "LayerNormalization", "Tanh", "Split"})
DERIVED = frozenset({"obs_clip_low", "split"})  # constants that follow from the others


def to_model(tensors: Tensors, manifest: str | None = None) -> ModelProto:
    """Make the actor's graph, normalizer inside, manifest as metadata; the same in gives the same bytes."""
    shape = shape_of(tensors)
    model = ModelProto()
    model.CopyFrom(_template(shape))
    for constant in model.graph.initializer:
        if constant.name not in DERIVED:
            constant.raw_data = tensors[constant.name].astype("<f4").tobytes()
        elif constant.name == "obs_clip_low":
            constant.raw_data = (-tensors["obs_clip"]).astype("<f4").tobytes()
    if manifest is not None:
        helper.set_model_props(model, {MANIFEST_KEY: manifest})
    return model


@lru_cache(maxsize=8)
def _template(shape: ActorShape) -> ModelProto:
    """Build the graph of a shape, its constants still without numbers."""
    constants = [TensorProto(name=name, dims=dims, data_type=TensorProto.FLOAT) for name, dims in _floats(shape)]
    split = np.array([shape.act_dim, shape.act_dim], "<i8").tobytes()
    constants.append(TensorProto(name="split", dims=[2], data_type=TensorProto.INT64, raw_data=split))
    graph = helper.make_graph(
        _nodes(shape.architecture == LAYERNORM_TANH),
        "actor",
        [_rows(INPUT, shape.obs_dim)],
        [_rows(name, shape.act_dim) for name in OUTPUTS],
        constants,
    )
    return helper.make_model(
        graph, producer_name=PRODUCER, ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", OPSET)]
    )


def _floats(shape: ActorShape) -> list[tuple[str, tuple[int, ...]]]:
    return [*shape.tensor_shapes().items(), ("obs_clip_low", ())]


def _rows(name: str, width: int) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width])


def _nodes(layer_norm: bool) -> list[NodeProto]:
    node = helper.make_node
    if layer_norm:
        first = [
            node("LayerNormalization", ["layer_0", "gain", "offset"], ["scaled"], axis=-1, epsilon=LAYER_NORM_EPSILON),
            node("Tanh", ["scaled"], ["hidden_0"]),
        ]
    else:
        first = [node("Elu", ["layer_0"], ["hidden_0"])]
    return [
        node("Sub", [INPUT, "obs_mean"], ["centred"]),
        node("Mul", ["centred", "obs_scale"], ["standard"]),
        node("Clip", ["standard", "obs_clip_low", "obs_clip"], ["normal"]),
        node("Gemm", ["normal", "weight_0", "bias_0"], ["layer_0"]),
        *first,
        node("Gemm", ["hidden_0", "weight_1", "bias_1"], ["layer_1"]),
        node("Elu", ["layer_1"], ["hidden_1"]),
        node("Gemm", ["hidden_1", "weight_2", "bias_2"], ["layer_2"]),
        node("Split", ["layer_2", "split"], ["mean", "raw_log_std"], axis=-1),
        node("Clip", ["raw_log_std", "log_std_min", "log_std_max"], ["log_std"]),
        node("Tanh", ["mean"], ["action"]),
    ]
