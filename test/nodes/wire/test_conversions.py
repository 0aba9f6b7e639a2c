"""What leaves as a message comes back equal; what is wrong is refused by the name of its field."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from example_policies import make_tensors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ompo_msgs.msg import ActorWeights, EpisodeSummary, LearnerStatus, PolicyArtifact, TransitionBatch
from rclpy.serialization import deserialize_message, serialize_message

from ompo_ros.nodes.wire.conversions import (
    MAX_DIM,
    MAX_TRANSITIONS,
    actor_from_msg,
    artifact_from_msg,
    artifact_to_msg,
    check_episode,
    metrics_from_msg,
    tensors_to_msgs,
    transitions_from_msg,
    transitions_to_msg,
)
from ompo_ros.policy.errors import InvalidWeights
from ompo_ros.transitions import InvalidData, Origin, Transitions

FLOAT_FIELDS = ["obs", "action", "reward", "next_obs", "command"]
FLAG_FIELDS = ["terminated", "truncated"]
COUNT_FIELDS = ["step", "policy_version", "domain_id"]


def make_transitions(n: int = 5, obs_dim: int = 4, act_dim: int = 2, seed: int = 0) -> Transitions:
    rng = np.random.default_rng(seed)
    floats = lambda *shape: rng.standard_normal(shape, dtype=np.float32)  # noqa: E731
    counts = lambda: rng.integers(0, 2**32, n, dtype=np.uint32)  # noqa: E731
    return Transitions(
        origin=Origin.TARGET,
        obs=floats(n, obs_dim),
        action=floats(n, act_dim),
        reward=floats(n),
        next_obs=floats(n, obs_dim),
        terminated=rng.random(n) < 0.5,
        truncated=rng.random(n) < 0.5,
        step=counts(),
        policy_version=counts(),
        domain_id=counts(),
        command=floats(n, act_dim),
    )


def make_batch(**changes) -> TransitionBatch:
    batch = transitions_to_msg(make_transitions(), collector_id="arm", session=7, sequence=3, stamp=Time(sec=1))
    for field, value in changes.items():
        setattr(batch, field, value)
    return batch


def over_the_wire(msg):
    return deserialize_message(serialize_message(msg), type(msg))


@given(n=st.integers(1, 40), obs_dim=st.integers(1, 30), act_dim=st.integers(1, 8), seed=st.integers(0, 2**16))
@settings(max_examples=50)
def test_transitions_survive_the_wire(n, obs_dim, act_dim, seed):
    sent = make_transitions(n, obs_dim, act_dim, seed)
    msg = over_the_wire(transitions_to_msg(sent, collector_id="arm", session=7, sequence=3, stamp=Time(sec=1)))
    received = transitions_from_msg(msg)
    assert (msg.collector_id, msg.session, msg.sequence, msg.stamp.sec) == ("arm", 7, 3, 1)
    assert received.origin == sent.origin
    for field in FLOAT_FIELDS + FLAG_FIELDS + COUNT_FIELDS:
        np.testing.assert_array_equal(getattr(received, field), getattr(sent, field))


def test_a_source_sends_no_commands():
    sent = replace(make_transitions(), origin=Origin.SOURCE, command=None)
    msg = over_the_wire(transitions_to_msg(sent, collector_id="arm", session=7, sequence=3, stamp=Time(sec=1)))
    assert len(msg.command) == 0
    assert transitions_from_msg(msg).command is None


def test_strided_arrays_are_sent_as_they_look():
    sent = make_transitions(n=6)
    every_second = Transitions(
        origin=sent.origin,
        **{f: getattr(sent, f)[::2] for f in FLOAT_FIELDS + FLAG_FIELDS + COUNT_FIELDS},
    )
    msg = transitions_to_msg(every_second, collector_id="arm", session=0, sequence=0, stamp=Time())
    np.testing.assert_array_equal(transitions_from_msg(msg).obs, sent.obs[::2])


def test_reading_copies_nothing():
    msg = make_batch()
    received = transitions_from_msg(msg)
    msg.obs[0] = 42.0
    assert received.obs[0, 0] == 42.0


@given(
    field=st.sampled_from(FLOAT_FIELDS + FLAG_FIELDS + COUNT_FIELDS),
    excess=st.integers(-3, 3).filter(bool),
)
@settings(max_examples=60)
def test_a_field_of_the_wrong_length_is_named(field, excess):
    msg = make_batch()
    values = getattr(msg, field)
    changed = values[:excess] if excess < 0 else values + values[:excess]
    setattr(msg, field, changed)
    with pytest.raises(InvalidData) as caught:
        transitions_from_msg(over_the_wire(msg))
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")


@given(field=st.sampled_from(FLOAT_FIELDS), bad=st.sampled_from([np.nan, np.inf, -np.inf]), place=st.integers(0, 4))
@settings(max_examples=40)
def test_a_number_that_is_not_finite_is_named(field, bad, place):
    msg = make_batch()
    getattr(msg, field)[place] = bad
    with pytest.raises(InvalidData, match=f"^{field}: is not finite"):
        transitions_from_msg(over_the_wire(msg))


@given(field=st.sampled_from(FLAG_FIELDS), value=st.integers(2, 255))
@settings(max_examples=20)
def test_a_flag_that_is_no_flag_is_named(field, value):
    msg = make_batch()
    getattr(msg, field)[1] = value
    with pytest.raises(InvalidData, match=f"^{field}: "):
        transitions_from_msg(over_the_wire(msg))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", 0),
        ("count", 4),
        ("count", MAX_TRANSITIONS + 1),
        ("count", 2**32 - 1),
        ("obs_dim", 0),
        ("obs_dim", 3),
        ("obs_dim", MAX_DIM + 1),
        ("act_dim", 0),
        ("act_dim", 3),
        ("act_dim", MAX_DIM + 1),
        ("origin", 3),
        ("collector_id", ""),
        ("collector_id", "x" * 300),
    ],
)
def test_headers_that_do_not_fit_are_refused(field, value):
    # A dimension that disagrees with the data shows at the first array it shapes.
    named = {"count": "count|obs", "obs_dim": "obs_dim|obs", "act_dim": "act_dim|action"}.get(field, field)
    with pytest.raises(InvalidData, match=f"^({named}): "):
        transitions_from_msg(over_the_wire(make_batch(**{field: value})))


@given(data=st.data())
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_random_damage_is_refused_or_harmless(data):
    """Flips bytes of a serialised batch: it fails to decode, is refused by field, or is a sound batch."""
    raw = bytearray(serialize_message(make_batch()))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(4, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        msg = deserialize_message(bytes(raw), TransitionBatch)
    except Exception:  # the middleware refused it: it never reaches our code
        return
    try:
        transitions = transitions_from_msg(msg)
    except InvalidData as error:
        refused = error.field
    else:
        refused = None
        assert np.isfinite(transitions.obs).all()
        assert len(transitions) == msg.count
    assert refused in {None, *TransitionBatch.get_fields_and_field_types()}


def make_actor(**changes) -> ActorWeights:
    tensors = tensors_to_msgs(make_tensors(obs_dim=3, hidden=4, act_dim=2))
    actor = ActorWeights(version=1, obs_dim=3, act_dim=2, architecture="elu", tensors=tensors)
    for field, value in changes.items():
        setattr(actor, field, value)
    return actor


def test_an_actor_survives_the_wire():
    tensors, actor = make_tensors(obs_dim=3, hidden=4, act_dim=2), actor_from_msg(over_the_wire(make_actor()))
    assert list(actor.tensors) == list(tensors)
    for name, values in tensors.items():
        np.testing.assert_array_equal(actor.tensors[name], values, strict=True)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": 0}, "version"),
        ({"obs_dim": 4}, "obs_dim"),
        ({"act_dim": 0}, "act_dim"),
        ({"architecture": ""}, "architecture"),
        ({"tensors": []}, "tensors"),
    ],
)
def test_actors_that_do_not_fit_are_refused(changes, field):
    with pytest.raises(InvalidData) as caught:
        actor_from_msg(make_actor(**changes))
    assert caught.value.field == field


def test_a_tensor_is_refused_by_its_name():
    nan, twice, short = make_actor(), make_actor(), make_actor()
    nan.tensors[0].data[2] = float("nan")
    twice.tensors[1].name = "obs_mean"
    short.tensors[0].shape[0] = 4
    with pytest.raises(InvalidWeights, match="obs_mean is not finite"):
        actor_from_msg(nan)
    with pytest.raises(InvalidData, match="'obs_mean' occurs twice"):
        actor_from_msg(twice)
    with pytest.raises(InvalidData, match=r"tensors\[obs_mean\].data: holds 3 values, 4 are needed"):
        actor_from_msg(short)


def test_an_artifact_survives_the_wire():
    msg = artifact_to_msg(b"\x08\x07onnx", version=4)
    assert artifact_from_msg(over_the_wire(msg)) == b"\x08\x07onnx"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 0),
        ("onnx", b""),
        ("sha256", "0" * 64),
    ],
)
def test_artifacts_that_do_not_fit_are_refused(field, value):
    msg: PolicyArtifact = artifact_to_msg(b"onnx", version=4)
    setattr(msg, field, value)
    with pytest.raises(InvalidData) as caught:
        artifact_from_msg(over_the_wire(msg))
    assert caught.value.field == field


EPISODE = EpisodeSummary(
    collector_id="arm", origin=1, outcome=1, episode_return=-3.5, domain_names=["payload"], domain_values=[0.2]
)


def test_a_sound_episode_passes():
    check_episode(over_the_wire(EPISODE))


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("collector_id", "", "collector_id"),
        ("origin", 0, "origin"),  # a source's, which has a topic of its own
        ("origin", 2, "origin"),  # a demonstration, which has none
        ("outcome", 4, "outcome"),
        ("episode_return", float("nan"), "episode_return"),
        ("domain_values", [0.1, 0.2], "domain_values"),
        ("domain_values", [float("inf")], "domain_values"),
        ("domain_names", [""], "domain_names"),
        ("domain_names", ["a"] * 2000, "domain_names"),
    ],
)
def test_episodes_that_do_not_fit_are_refused(field, value, named):
    msg = copy.deepcopy(EPISODE)
    setattr(msg, field, value)
    with pytest.raises(InvalidData) as caught:
        check_episode(over_the_wire(msg))
    assert caught.value.field == named


def test_metrics_come_by_name():
    msg = LearnerStatus(state=LearnerStatus.TRAINING, metric_names=["q", "loss"], metric_values=[1.5, float("nan")])
    metrics = metrics_from_msg(over_the_wire(msg))
    assert metrics["q"] == 1.5
    assert np.isnan(metrics["loss"])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"state": 9}, "state"),
        ({"updates_per_second": float("nan")}, "updates_per_second"),
        ({"metric_names": ["a", "b"]}, "metric_values"),
        ({"metric_names": ["a", "a"], "metric_values": [1.0, 2.0]}, "metric_names"),
    ],
)
def test_statuses_that_do_not_fit_are_refused(changes, named):
    with pytest.raises(InvalidData) as caught:
        metrics_from_msg(over_the_wire(LearnerStatus(**changes)))
    assert caught.value.field == named
