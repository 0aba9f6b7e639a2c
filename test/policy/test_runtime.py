"""The runtime acts, in place and only for the robot it was made for; whatever else comes has its own error."""

import dataclasses
import tracemalloc

import numpy as np
import onnx
import pytest
from example_policies import REACH, make
from onnx import TensorProto, helper
from waiting import wait_until

from ompo_ros.policy import errors
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import MAX_BYTES, make_policy, read_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.runtime import PolicyRuntime, PolicySlot
from ompo_ros.transitions import InvalidData


def observations(n: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, 20)).astype(np.float32)


@pytest.mark.parametrize("architecture", ["elu", "layernorm_tanh"])
def test_one_robot_and_many_act_alike(architecture):
    policy = make(architecture=architecture)
    one = PolicyRuntime(policy.onnx, REACH, sha256=policy.sha256)
    many = PolicyRuntime(policy.onnx, REACH, batch=6)
    obs = observations(6)
    expected, _, _ = policy.actor.forward(obs)
    np.testing.assert_allclose(many.act(obs), expected, atol=1e-5)
    np.testing.assert_allclose([one.act(row).copy() for row in obs], expected, atol=1e-5)
    assert one.version == policy.version


def test_samples_are_what_the_definition_says(policy):
    many = PolicyRuntime(policy.onnx, REACH, batch=4)
    obs = observations(4)
    _, mean, log_std = policy.actor.forward(obs)
    noise = np.random.default_rng(9).standard_normal((4, 7), dtype=np.float32)
    bias, gain = (policy.actor.tensors[name] for name in ("action_bias", "action_gain"))
    for acted, effective in (
        (many.sample(obs, np.random.default_rng(9)).copy(), np.tanh(mean + np.exp(log_std) * noise)),
        (many.act(obs), np.tanh(mean)),
    ):
        np.testing.assert_allclose(acted, np.clip((effective - bias) / gain, -1, 1), atol=1e-5)


def test_its_rest_action_is_what_reaches_no_joint(policy):
    tensors = {**policy.actor.tensors, "action_bias": np.linspace(-1.2, 0.4, 7, dtype=np.float32)}
    biased = make_policy(Actor(tensors), REACH, version=1, stamp=1.0, training=Training(1, 1))
    rest = PolicyRuntime(biased.onnx, REACH).rest_action
    reaches = tensors["action_gain"] * rest + tensors["action_bias"]
    inside = np.abs(rest) < 1.0
    assert inside.any()
    np.testing.assert_allclose(reaches[inside], 0.0, atol=1e-6)
    np.testing.assert_array_equal(rest[~inside], -np.sign(tensors["action_bias"][~inside]))


def test_acting_allocates_nothing_that_stays_or_grows(policy):
    runtime = PolicyRuntime(policy.onnx, REACH)
    obs, rng = observations(1)[0], np.random.default_rng(0)
    first = runtime.act(obs)

    def peak_of_calls():
        tracemalloc.start()
        for _ in range(100):
            assert runtime.act(obs) is first
            assert runtime.sample(obs, rng) is first
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    # A few Python numbers; one array of 256 hidden values alone would be 1 kB a call. The test runner's own threads
    # allocate now and then.
    assert min(peak_of_calls() for _ in range(5)) < 2_000


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_and_the_next_one_acts(policy, value):
    runtime = PolicyRuntime(policy.onnx, REACH)
    obs = observations(1)[0]
    before = runtime.act(obs).copy()
    with pytest.raises(InvalidData, match="finite"):
        runtime.act(np.where(np.arange(20) == 4, np.float32(value), obs))
    np.testing.assert_array_equal(runtime.act(obs), before)


@pytest.mark.parametrize("shape", [(19,), (1, 20), ()])
def test_observations_of_another_shape_are_refused(policy, shape):
    with pytest.raises(InvalidData, match="shape"):
        PolicyRuntime(policy.onnx, REACH).act(np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    "change",
    [
        {"robot": "fr3"},
        {"frame": "world"},
        {"control_rate": 50.0},
        {"joint_names": REACH.joint_names[::-1]},
        {"observation": REACH.observation[::-1]},
        {"observation": REACH.observation[:-1]},
        {"action": tuple(dataclasses.replace(signal, scale=0.5) for signal in REACH.action)},
        {"action_limit": 0.5},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_robot_is_refused_before_the_first_action(policy, change):
    with pytest.raises(errors.ContractMismatch, match=f"not made for this arm: {next(iter(change))}"):
        PolicyRuntime(policy.onnx, dataclasses.replace(REACH, **change))


def test_what_concerns_learning_only_does_not_matter_to_a_robot(policy):
    other = dataclasses.replace(REACH, episode_steps=7, task="reach_sparse")
    assert PolicyRuntime(policy.onnx, other).version == policy.version


# -- files that are refused -----------------------------------------------------------------------------------------


def set_external(model):
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    entry = model.graph.initializer[0].external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def set_sparse(model):
    model.graph.sparse_initializer.add().values.name = "weight_0"


def set_oversized(model):
    model.graph.initializer[0].dims[:] = [1 << 40]


def set_negative(model):
    model.graph.initializer[0].dims[:] = [-1, -20]


def set_operator(model):
    model.graph.node[-1].op_type = "Sigmoid"


def set_domain(model):
    model.graph.node[-1].domain = "com.microsoft"


def set_subgraph(model):
    body = helper.make_graph([], "body", [], [])
    model.graph.node.append(helper.make_node("If", ["obs"], ["x"], then_branch=body, else_branch=body))


def set_input(model):
    model.graph.input[0].name = "observation"


def set_outputs(model):
    model.graph.output.pop()


def set_output_type(model):
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE


def set_width(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 21


def set_nan(model):
    values = np.frombuffer(model.graph.initializer[0].raw_data, np.float32).copy()
    values[0] = np.nan
    model.graph.initializer[0].raw_data = values.tobytes()


def set_weight(model):
    values = np.frombuffer(model.graph.initializer[5].raw_data, np.float32).copy()
    values[0] += 1.0
    model.graph.initializer[5].raw_data = values.tobytes()


def set_double(model):
    model.graph.initializer[0].data_type = TensorProto.DOUBLE


def set_no_manifest(model):
    model.metadata_props.pop()


def set_two_manifests(model):
    model.metadata_props.add().CopyFrom(model.metadata_props[0])


def set_version_in_manifest(model):
    model.metadata_props[0].value = model.metadata_props[0].value.replace('"hidden": 32', '"hidden": 33')


def set_wiring(model):
    model.graph.node[1].input[0] = "obs"


def set_attribute(model):
    next(node for node in model.graph.node if node.op_type == "Split").attribute[0].i = 0


def set_function(model):
    model.functions.add().name = "Elu"


def set_opset(model):
    model.opset_import[0].version = 18


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (set_external, errors.ExternalData),
        (set_sparse, errors.SparseTensor),
        (set_oversized, errors.Oversized),
        (set_negative, errors.Oversized),
        (set_operator, errors.UnknownOperator),
        (set_domain, errors.UnknownOperator),
        (set_subgraph, errors.UnknownOperator),
        (set_input, errors.WrongInterface),
        (set_outputs, errors.WrongInterface),
        (set_output_type, errors.WrongInterface),
        (set_nan, errors.InvalidWeights),
        (set_double, errors.InvalidWeights),
        (set_weight, errors.InvalidManifest),
        (set_no_manifest, errors.InvalidManifest),
        (set_two_manifests, errors.InvalidManifest),
        (set_version_in_manifest, errors.InvalidManifest),
        (set_width, errors.NotAPolicy),
        (set_wiring, errors.NotAPolicy),
        (set_attribute, errors.NotAPolicy),
        (set_function, errors.NotAPolicy),
        (set_opset, errors.NotAPolicy),
    ],
    ids=lambda value: value.__name__,
)
def test_each_foreign_graph_has_its_own_error(policy, change, error):
    model = onnx.load_from_string(policy.onnx)
    change(model)
    with pytest.raises(errors.RefusedPolicy) as caught:
        PolicyRuntime(model.SerializeToString(), REACH)
    assert type(caught.value) is error


def test_a_file_other_than_the_one_signed_off_is_refused(policy):
    other = make(2)
    with pytest.raises(errors.ChecksumMismatch):
        PolicyRuntime(policy.onnx, REACH, sha256=other.sha256)


@pytest.mark.parametrize("junk", [b"", b"\0" * 100, b"not onnx", b"\xff" * 1000])
def test_junk_is_refused(junk):
    with pytest.raises(errors.RefusedPolicy):
        PolicyRuntime(junk, REACH)


def test_a_huge_file_is_not_even_parsed():
    with pytest.raises(errors.Oversized):
        read_policy(bytes(MAX_BYTES + 1))


@pytest.mark.parametrize("text", [b"weight_1", b"Gemm", b"action", b"ompo_manifest", b"panda_joint1"])
def test_text_that_is_no_utf_8_is_refused(policy, text):
    assert text in policy.onnx
    with pytest.raises(errors.RefusedPolicy):
        PolicyRuntime(policy.onnx.replace(text, text[:-1] + b"\xff"), REACH)


# -- swapping -------------------------------------------------------------------------------------------------------


def step_until(slot, condition) -> None:
    wait_until(lambda: slot.pause() or condition(), "what the loader does while the loop rests", pause=0.001)


def test_a_loop_swaps_policies_and_keeps_its_own_when_one_is_refused():
    refused = []
    slot = PolicySlot(REACH, refused.append, batch=2)
    assert slot.runtime is None
    first, second = make(1), make(2)
    resting = PolicySlot(REACH, refused.append)
    for offered_to in (slot, resting):
        offered_to.offer(first.onnx, first.sha256)
    step_until(resting, lambda: resting.runtime is not None)
    assert slot.runtime is None  # its loop has not said that it rests
    resting.close()
    step_until(slot, lambda: slot.runtime is not None)
    slot.offer(second.onnx, first.sha256)
    step_until(slot, lambda: refused)
    assert isinstance(refused[0], errors.ChecksumMismatch)
    assert slot.runtime.version == 1
    slot.offer(second.onnx, second.sha256)
    step_until(slot, lambda: slot.runtime.version == 2)
    assert slot.runtime.act(np.zeros((2, 20), np.float32)).shape == (2, 7)
    slot.close()
