"""An actor as an ONNX graph: exported by the `onnx` package alone, run by onnxruntime, and proven to be the actor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from ompo_ros.policy.actor import LAYER_NORM_EPSILON, LAYERNORM_TANH, Actor, ActorShape, Float32Array
from ompo_ros.policy.errors import ParityFailure

OPSET: Final = 17  # the oldest with LayerNormalization; onnxruntime runs it since 1.12
IR_VERSION: Final = 8
PRODUCER: Final = "ompo_ros"
INPUT: Final = "obs"
OUTPUTS: Final = ("action", "mean", "log_std")
OPERATORS: Final = frozenset({"Sub", "Mul", "Div", "Clip", "Gemm", "Elu", "LayerNormalization", "Tanh", "Split"})
ACTION_RANGE: Final = {"action_low": -1.0, "action_high": 1.0}
DERIVED: Final = frozenset({"obs_clip_low", "split", *ACTION_RANGE})  # constants that follow from the others
TOLERANCE: Final = 1e-5
RANDOM_OBSERVATIONS: Final = 256
WARM_UP_RUNS: Final = 20

# -- export ---------------------------------------------------------------------------------------------------------


def to_model(actor: Actor) -> ModelProto:
    """Make the actor's graph, normalizer inside: one graph per shape, then only weights; the same in, the same out."""
    model = ModelProto()
    model.CopyFrom(_template(actor.shape))
    for constant in model.graph.initializer:
        if constant.name not in DERIVED:
            constant.raw_data = actor.tensors[constant.name].astype("<f4", copy=False).tobytes()
        elif constant.name == "obs_clip_low":
            constant.raw_data = (-actor.tensors["obs_clip"]).astype("<f4").tobytes()
    return model


@lru_cache(maxsize=8)
def _template(shape: ActorShape) -> ModelProto:
    """Build the graph of a shape, its constants still without numbers."""
    floats = [*shape.tensor_shapes().items(), ("obs_clip_low", ())]
    constants = [TensorProto(name=name, dims=dims, data_type=TensorProto.FLOAT) for name, dims in floats]
    split = np.array([shape.act_dim, shape.act_dim], "<i8").tobytes()
    constants.append(TensorProto(name="split", dims=[2], data_type=TensorProto.INT64, raw_data=split))
    for name, value in ACTION_RANGE.items():
        raw = np.array(value, "<f4").tobytes()
        constants.append(TensorProto(name=name, dims=(), data_type=TensorProto.FLOAT, raw_data=raw))
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
        node("Tanh", ["mean"], ["effective"]),
        node("Sub", ["effective", "action_bias"], ["unbiased"]),
        node("Div", ["unbiased", "action_gain"], ["unlimited"]),
        node("Clip", ["unlimited", "action_low", "action_high"], ["action"]),
    ]


# -- running --------------------------------------------------------------------------------------------------------


class Engine:
    """onnxruntime on one thread, a graph bound to its arrays once; a run neither allocates nor copies."""

    def __init__(self, onnx: bytes, rows: int, obs_dim: int, act_dim: int) -> None:
        self._session = onnxruntime.InferenceSession(onnx, _options(), providers=["CPUExecutionProvider"])
        self._binding = self._session.io_binding()
        self.obs: NDArray[np.float32] = np.zeros((rows, obs_dim), np.float32)
        self._binding.bind_input(INPUT, "cpu", 0, np.float32, self.obs.shape, self.obs.ctypes.data)
        outputs = []
        for name in OUTPUTS:
            values: NDArray[np.float32] = np.zeros((rows, act_dim), np.float32)
            self._binding.bind_output(name, "cpu", 0, np.float32, values.shape, values.ctypes.data)
            outputs.append(values)
        self.action, self.mean, self.log_std = outputs

    def warm_up(self) -> None:
        """Let the first runs, which plan and allocate, happen before an arm waits for one."""
        for _ in range(WARM_UP_RUNS):
            self.run()

    def run(self) -> None:
        """Compute all outputs of what stands in `obs`."""
        self._session.run_with_iobinding(self._binding)


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3  # errors; they come as exceptions anyway
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


# -- parity ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parity:
    """How far the exported graph is from the actor's definition, at most, over so many observations."""

    max_error: float
    random_observations: int
    recorded_observations: int


def check_parity(onnx: bytes, actor: Actor, recorded: Float32Array, rng: np.random.Generator) -> Parity:
    """Run graph and definition on random and recorded observations; raises ParityFailure above the tolerance."""
    obs = np.concatenate((random_observations(actor, rng), recorded), dtype=np.float32)
    engine = Engine(onnx, len(obs), actor.shape.obs_dim, actor.shape.act_dim)
    engine.obs[:] = obs
    engine.run()
    _, mean, log_std = actor.forward(obs)
    # Float32 itself is that much coarser where a layer's outputs are large; mean and log_std are halves of one layer.
    scale = max(1.0, float(np.abs(mean).max()))
    errors = {
        "mean": float(np.abs(engine.mean - mean).max()) / scale,
        "log_std": float(np.abs(engine.log_std - log_std).max()) / scale,
        "action": float(np.abs(engine.action - actor.sent(np.tanh(engine.mean.astype(np.float64)))).max()),
    }
    worst = max(errors, key=lambda name: math.inf if math.isnan(errors[name]) else errors[name])
    if not errors[worst] <= TOLERANCE:
        raise ParityFailure(f"{worst} of the exported graph is off by {errors[worst]:.1e}, {TOLERANCE:.0e} is allowed")
    return Parity(errors[worst], len(obs) - len(recorded), len(recorded))


def random_observations(actor: Actor, rng: np.random.Generator, n: int = RANDOM_OBSERVATIONS) -> Float32Array:
    """Draw observations around the normalizer's mean, half of them far out where it clips."""
    mean, scale = actor.tensors["obs_mean"], actor.tensors["obs_scale"]
    deviations = rng.standard_normal((n, len(mean))) * np.where(np.arange(n) % 2, 1.0, 5.0)[:, None]
    safe = np.where(np.abs(scale) > np.finfo(np.float32).tiny, scale, 1.0)
    return np.asarray(mean + deviations / safe, np.float32)
