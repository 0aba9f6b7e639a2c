"""Sources over DDS: they wait for the learner's counts, keep to them, share them, and act by the newest policy."""

import itertools

import launch
import launch_pytest
import pytest
from example_policies import make
from graphs import PATIENT
from launch_ros.actions import Node as NodeAction
from ompo_msgs.msg import ArmBelief, EpisodeSummary, LearnerStatus, PolicyArtifact, TransitionBatch
from rcl_interfaces.srv import ListParameters

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg, check_episode, transitions_from_msg
from ompo_ros.nodes.wire.streams import StreamCounts
from ompo_ros.sim.belief import coordinates
from ompo_ros.sim.domain import load_domain
from ompo_ros.transitions import Origin

BATCH = 4 * 5
NAMES = {"/source_0", "/source_1"}


def source(index):
    return NodeAction(
        package="ompo_ros",
        executable="source_collector",
        name=f"source_{index}",
        parameters=[{"arms": 4, "batch_steps": 5, "index": index, "num_sources": 2}],
        output="screen",
        **PATIENT,
    )


@launch_pytest.fixture
def graph(ros_domain):
    return launch.LaunchDescription([source(0), source(1), launch_pytest.actions.ReadyToTest()])


def go_round_the_loop(probe):
    """Call each source a few times: between two answers it looks whether a batch is wanted, and would send one."""
    for _, index in itertools.product(range(3), range(2)):
        probe.call(ListParameters, f"source_{index}/list_parameters", ListParameters.Request())


@pytest.mark.launch(fixture=graph)
def test_two_sources_share_a_budget_never_outrun_it_and_send_a_finished_learner_nothing(probe):
    node, batches, episodes = probe.node, [], []
    node.create_subscription(TransitionBatch, "source/transitions", batches.append, qos.TRANSITIONS)
    node.create_subscription(EpisodeSummary, "source/episodes", episodes.append, qos.EPISODES)
    status = node.create_publisher(LearnerStatus, "status", qos.LATCHED)
    probe.spin_until(lambda: status.get_subscription_count() == 2 and node.count_publishers("source/episodes") == 2)
    assert batches == []
    status.publish(LearnerStatus(state=LearnerStatus.WAITING, source_budget=20 * BATCH))
    probe.spin_until(lambda: len(batches) == 20)
    status.publish(LearnerStatus(state=LearnerStatus.TRAINING, source_budget=30 * BATCH, source_steps=20 * BATCH))
    probe.spin_until(lambda: len(batches) == 30)
    go_round_the_loop(probe)
    assert len(batches) == 30

    counts = StreamCounts()
    for batch in batches:
        counts.count(batch.collector_id, batch.session, batch.sequence)
    assert {name: stream.received for name, stream in counts.by_collector().items()} == {
        "/source_0": 15,
        "/source_1": 15,
    }
    assert counts.lost == 0
    first = {batch.collector_id: transitions_from_msg(batch).obs[0].tolist() for batch in reversed(batches)}
    assert first["/source_0"] != first["/source_1"]
    probe.spin_until(lambda: len(episodes) == 2 * 4)
    for episode in episodes:
        check_episode(episode, Origin.SOURCE)
        assert len(episode.domain_names) > 10

    status.publish(LearnerStatus(state=LearnerStatus.FINISHED, source_budget=100 * BATCH, source_steps=30 * BATCH))
    go_round_the_loop(probe)
    assert len(batches) == 30


@pytest.mark.launch(fixture=graph)
def test_sources_make_again_what_a_learner_lost_that_was_killed_before_it_reported_it(probe):
    node, batches, counts = probe.node, [], LearnerStatus(state=LearnerStatus.WAITING, source_budget=4 * BATCH)
    node.create_subscription(TransitionBatch, "source/transitions", batches.append, qos.TRANSITIONS)
    status = node.create_publisher(LearnerStatus, "status", qos.LATCHED)
    probe.spin_until(lambda: status.get_subscription_count() == 2)
    status.publish(counts)
    probe.spin_until(lambda: len(batches) == 4)
    go_round_the_loop(probe)
    assert len(batches) == 4
    probe.spin_until(lambda: status.publish(counts) or {batch.collector_id for batch in batches[4:]} == NAMES)


@pytest.mark.launch(fixture=graph)
def test_sources_act_by_the_newest_policy_and_keep_it_when_one_is_refused(probe):
    node, acted = probe.node, set()

    def on_batch(batch):
        acted.add((batch.collector_id, batch.policy_version[-1]))

    node.create_subscription(TransitionBatch, "source/transitions", on_batch, qos.TRANSITIONS)
    status = node.create_publisher(LearnerStatus, "status", qos.LATCHED)
    policies = node.create_publisher(PolicyArtifact, "policy/latest", qos.LATCHED)
    probe.spin_until(lambda: status.get_subscription_count() == policies.get_subscription_count() == 2)
    status.publish(LearnerStatus(state=LearnerStatus.TRAINING, source_budget=10**6))

    def by_both(version):
        return {(name, version) for name in NAMES} <= acted

    probe.spin_until(lambda: by_both(0))
    for version in (1, 2):
        policies.publish(artifact_to_msg(make(version).onnx, version=version))
        probe.spin_until(lambda version=version: by_both(version))
    policies.publish(artifact_to_msg(make(3).onnx[:-1], version=3))
    policies.publish(artifact_to_msg(make(4).onnx, version=4))
    probe.spin_until(lambda: by_both(4))
    assert {version for _, version in acted} == {0, 1, 2, 4}


def belief_with_biases(bias):
    mean, deviation, _ = coordinates.moments(load_domain("randomized"))
    values = coordinates.to_values(mean)
    values[coordinates.slice_of("action_bias")] = bias
    return ArmBelief(names=list(coordinates.NAMES), means=values.tolist(), deviations=(0.1 * deviation).tolist())


@pytest.mark.launch(fixture=graph)
def test_a_new_belief_restarts_the_arms_so_that_no_row_of_the_old_one_follows(probe):
    node, begun, episodes = probe.node, {name: [] for name in NAMES}, []

    def on_batch(batch):
        steps = transitions_from_msg(batch).step
        assert set(steps[:4]) == {steps[0]}, "all arms are in the same step"
        begun[batch.collector_id].append(int(steps[0]))

    node.create_subscription(TransitionBatch, "source/transitions", on_batch, qos.TRANSITIONS)
    node.create_subscription(EpisodeSummary, "source/episodes", episodes.append, qos.EPISODES)
    status = node.create_publisher(LearnerStatus, "status", qos.LATCHED)
    beliefs = node.create_publisher(ArmBelief, "belief", qos.LATCHED)
    probe.spin_until(lambda: status.get_subscription_count() == beliefs.get_subscription_count() == 2)
    status.publish(LearnerStatus(state=LearnerStatus.TRAINING, source_budget=2 * 3 * BATCH))
    probe.spin_until(lambda: all(len(steps) == 3 for steps in begun.values()))
    beliefs.publish(belief_with_biases(0.6))
    go_round_the_loop(probe)
    status.publish(LearnerStatus(state=LearnerStatus.TRAINING, source_budget=2 * 13 * BATCH))
    probe.spin_until(lambda: all(len(steps) == 13 for steps in begun.values()) and len(episodes) == 2 * 4)
    for steps in begun.values():
        assert steps == [0, 5, 10, *range(0, 50, 5)]
    for episode in episodes:
        assert episode.steps == 50
        values = dict(zip(episode.domain_names, episode.domain_values, strict=True))
        assert [values[f"action_bias.{joint}"] for joint in range(1, 8)] == pytest.approx([0.6] * 7, abs=0.2)
