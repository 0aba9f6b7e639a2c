"""The exported graph computes the actor, says three engines that share no code, and torch itself."""

import dataclasses

import numpy as np
import onnx
import onnxruntime
import pytest
from example_policies import REACH, make, make_tensors
from onnx.reference import ReferenceEvaluator

from ompo_ros.policy import errors
from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy, read_policy
from ompo_ros.policy.graph import OPSET, check_parity, random_observations, to_model
from ompo_ros.policy.manifest import Manifest, Training
from ompo_ros.task.acting import Evaluation

NAMES = ["action", "mean", "log_std"]


@pytest.mark.parametrize("rows", [1, 17])
def test_two_foreign_engines_agree_with_the_definition(tensors, rows):
    onnx_bytes = to_model(Actor(tensors)).SerializeToString()
    obs = random_observations(Actor(tensors), np.random.default_rng(1), rows)
    expected = Actor(tensors).forward(obs)
    reference = ReferenceEvaluator(onnx.load_from_string(onnx_bytes)).run(NAMES, {"obs": obs})
    runtime = onnxruntime.InferenceSession(onnx_bytes).run(NAMES, {"obs": obs})
    for wanted, *found in zip(expected, reference, runtime, strict=True):
        for values in found:
            np.testing.assert_allclose(values, wanted, rtol=1e-5, atol=1e-5)


def test_the_file_passes_the_official_checker(tensors):
    policy = make_policy(Actor(tensors), REACH, version=1, stamp=0.0, training=Training(0, 0))
    model = onnx.load_from_string(policy.onnx)
    onnx.checker.check_model(model, full_check=True)
    assert model.opset_import[0].version == OPSET
    assert [len(i.type.tensor_type.shape.dim) for i in model.graph.input] == [2]


@pytest.mark.parametrize("first_layer", ["elu", "layernorm_tanh"])
@pytest.mark.parametrize("normalize", [True, False])
def test_it_acts_as_the_learner_does(first_layer, normalize):
    pytest.importorskip("torch")
    from ompo_ros.learning.config import Config
    from ompo_ros.learning.factory import make_agent

    agent = make_agent(Config(first_layer=first_layer, normalize_obs=normalize), 20, 7, 3, "cpu")
    rng = np.random.default_rng(0)
    agent.normalizer.update(rng.normal(2.0, 3.0, (100, 20)).astype(np.float32))
    tensors = agent.actor_tensors()
    policy = make_policy(Actor(tensors), REACH, version=1, stamp=0.0, training=Training(0, 0))
    obs = rng.normal(2.0, 3.0, (50, 20)).astype(np.float32)
    action = onnxruntime.InferenceSession(policy.onnx).run(["action"], {"obs": obs})[0]
    np.testing.assert_allclose(action, agent.act(obs, deterministic=True), atol=1e-5)


def test_parity_is_measured_on_recorded_observations_too(tensors):
    recorded = np.random.default_rng(0).normal(size=(5, 20)).astype(np.float32)
    parity = check_parity(
        to_model(Actor(tensors)).SerializeToString(), Actor(tensors), recorded, np.random.default_rng(0)
    )
    assert 0 < parity.max_error < 1e-5
    assert (parity.random_observations, parity.recorded_observations) == (256, 5)


@pytest.mark.parametrize("name", ["weight_0", "bias_1", "weight_2", "obs_mean", "obs_scale", "log_std_max"])
def test_parity_refuses_a_graph_with_other_numbers(tensors, name):
    other = {**tensors, name: (tensors[name] * np.float32(1.001)).astype(np.float32)}
    if name == "log_std_max":
        other[name] = np.array(-1.0, np.float32)
    with pytest.raises(errors.ParityFailure):
        check_parity(
            to_model(Actor(other)).SerializeToString(),
            Actor(tensors),
            np.empty((0, 20), np.float32),
            np.random.default_rng(0),
        )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: {n: v for n, v in t.items() if n != "bias_1"}, "bias_1 is missing"),
        (lambda t: {**t, "extra": t["bias_1"]}, "extra is unknown"),
        (lambda t: {**t, "bias_1": t["bias_1"][:-1]}, "bias_1 is float32"),
        (lambda t: {**t, "bias_1": t["bias_1"].astype(np.float64)}, "bias_1 is float64"),
        (lambda t: {**t, "bias_1": t["bias_1"] * np.float32("nan")}, "bias_1 is not finite"),
        (lambda t: {**t, "weight_2": t["weight_2"][:, :-1]}, "action_gain is float32"),
        (lambda t: {**t, "action_gain": -t["action_gain"]}, "action_gain is not positive"),
        (lambda t: {**t, "weight_0": t["bias_0"]}, "weight_0 is missing or no matrix"),
        (lambda t: {}, "weight_0 is missing"),
    ],
)
def test_tensors_that_are_no_actor_are_refused_by_name(tensors, change, named):
    with pytest.raises(errors.InvalidWeights, match=named):
        make_policy(Actor(change(tensors)), REACH, version=1, stamp=0.0, training=Training(0, 0))


def test_an_actor_of_another_task_is_refused():
    with pytest.raises(errors.ContractMismatch, match="reach_dense needs"):
        make(obs_dim=19)


def test_the_manifest_says_it_all_in_the_file_and_as_json(policy):
    manifest = read_policy(policy.onnx).manifest
    assert Manifest.from_json(manifest.to_json()) == manifest == policy.manifest
    assert manifest.contract == REACH
    assert manifest.normalizer.mean == tuple(map(float, policy.actor.tensors["obs_mean"]))
    assert {"ompo_ros", "onnx", "onnxruntime", "numpy", "python", "opset"} == set(manifest.software)


def test_an_evaluation_enters_the_file_and_leaves_the_weights(policy):
    evaluated = policy.evaluated(Evaluation(20, 19, -3.5))
    read = read_policy(evaluated.onnx, sha256=evaluated.sha256)
    assert read.manifest == dataclasses.replace(policy.manifest, evaluation=Evaluation(20, 19, -3.5))
    assert evaluated.sha256 != policy.sha256


def test_the_same_weights_give_the_same_bytes():
    assert make(4).onnx == make(4).onnx
    assert make(4).onnx != make(5).onnx


def test_graphs_of_one_shape_do_not_share_their_numbers():
    first, second = make_tensors(seed=1), make_tensors(seed=2)
    before = to_model(Actor(first))
    to_model(Actor(second))
    assert before == to_model(Actor(first))
