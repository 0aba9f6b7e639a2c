"""The identifier over DDS: from target transitions to a belief that sources draw from and a restart goes on from."""

from dataclasses import replace

import launch_pytest
import numpy as np
import pytest
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from learner_peer import transitions
from ompo_msgs.msg import ArmBelief, EpisodeSummary, LearnerStatus, TransitionBatch
from probe import Probe
from recordings import CONTRACT, episode
from target_runs import TASK, play
from waiting import PATIENCE

from ompo_ros.nodes.beliefs import check_belief, domain_from_msg
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_to_msg
from ompo_ros.recording.batch_recorder import BatchRecorder
from ompo_ros.sim.belief import Belief, kept
from ompo_ros.sim.belief.coordinates import HIGH, LOW, NAMES
from ompo_ros.sim.domain import load_domain
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData, Origin

BIASES = [0.5, -0.4, 0.3, -0.5, 0.4, 0.2, -0.3]
PLACES = [place for place, name in enumerate(NAMES) if name.startswith("action_bias")]


@pytest.fixture
def identifier(tmp_path):
    return node("identifier", run_dir=str(tmp_path), run_id="r", share=1.0)


@launch_pytest.fixture
def graph(ros_domain, identifier):
    return graph_of(identifier, node("source_collector", arms=4, batch_steps=50, run_id="r"))


@pytest.fixture
def hidden(tmp_path):
    path = tmp_path / "hidden.yaml"
    path.write_text(f"parameters: {{action_bias: {BIASES}, payload_mass: 1.0}}\n")
    return path


@launch_pytest.fixture
def warm(ros_domain, tmp_path, hidden):
    recorder = BatchRecorder(tmp_path / "recordings", Task("reach", "dense").on(load_robot("panda")))
    for batch in play(hidden, 100):
        recorder.write(batch)
    recorder.write(transitions(Origin.SOURCE))
    recorder.close()
    return graph_of(node("identifier", run_dir=str(tmp_path), warm_start=str(tmp_path / "recordings"), share=1.0))


@pytest.fixture
def ours(ros_domain):
    probe = Probe("/ompo")
    yield probe
    probe.close()


def send(publisher, probe, batches, run_id="r", name="target"):
    for sequence, batch in enumerate(batches):
        stamp = probe.node.get_clock().now().to_msg()
        publisher.publish(
            transitions_to_msg(batch, collector_id=name, session=1, sequence=sequence, stamp=stamp, run_id=run_id)
        )


@pytest.mark.launch(fixture=graph)
def test_target_transitions_become_a_belief_that_sources_draw_from(ours, hidden, tmp_path, launch_context, identifier):
    heard = ours.listen(ArmBelief, "belief", qos.LATCHED)
    episodes = ours.listen(EpisodeSummary, "source/episodes", qos.EPISODES)
    to_target = ours.node.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
    status = ours.node.create_publisher(LearnerStatus, "status", qos.LATCHED)
    ours.spin_until(lambda: to_target.get_subscription_count() == 1)

    send(to_target, ours, [transitions(Origin.SOURCE)], name="liar")
    send(to_target, ours, [transitions(Origin.TARGET)], run_id="another", name="stranger")
    six = np.zeros((50, 6), np.float32)
    send(to_target, ours, [replace(episode(), action=six, command=six)], name="an arm of six joints")
    send(to_target, ours, play(hidden, 100))
    ours.spin_until(lambda: heard and heard[-1].target_steps == 100)
    belief = heard[-1]
    assert belief.run_id == "r"
    assert tuple(belief.names) == NAMES
    np.testing.assert_allclose(np.array(belief.means)[PLACES], BIASES, atol=0.15)
    assert belief.prediction_error < 0.2 < belief.prior_prediction_error

    biases = " ".join(f"{belief.means[place]:.2f}" for place in PLACES)
    assert process_tools.wait_for_stderr_sync(
        launch_context, identifier, lambda text: "; payload " in text and f"biases {biases}" in text, timeout=PATIENCE
    )

    left = load_domain(tmp_path / "belief.yaml")
    np.testing.assert_allclose(left.drawn["action_bias"].distribution.mean, np.array(belief.means)[PLACES], atol=1e-5)

    ours.node.create_subscription(TransitionBatch, "source/transitions", lambda _: None, qos.TRANSITIONS)
    status.publish(LearnerStatus(run_id="r", state=LearnerStatus.TRAINING, source_budget=3 * 4 * 50))
    ours.spin_until(lambda: len(episodes) == 3 * 4)
    last = episodes[-1]
    drawn = [last.domain_values[list(last.domain_names).index(f"action_bias.{joint}")] for joint in range(1, 8)]
    np.testing.assert_allclose(drawn, np.array(belief.means)[PLACES], atol=0.2)


@pytest.mark.launch(fixture=warm)
def test_a_recording_of_the_arm_is_enough_for_a_belief(ours):
    heard = ours.listen(ArmBelief, "belief", qos.LATCHED)
    ours.spin_until(lambda: len(heard) == 2)  # a quick one, and a better one
    assert [belief.target_steps for belief in heard] == [100, 100]
    np.testing.assert_allclose(np.array(heard[-1].means)[PLACES], BIASES, atol=0.15)


def test_recorded_demonstrations_without_commands_cost_the_belief_only_themselves(make, tmp_path, capfd):
    recorder, played = BatchRecorder(tmp_path / "recordings", CONTRACT), episode(n=20)
    for origin in (Origin.DEMONSTRATION, Origin.SOURCE):
        recorder.write(replace(played, origin=origin, command=None))
    recorder.write(played)
    recorder.close()
    make("identifier", run_dir=tmp_path, warm_start=tmp_path / "recordings").fit()
    assert "the belief leaves out 1 batches without possible commands" in capfd.readouterr().err
    again = Belief(TASK, "randomized", 0)
    kept.restore(again, tmp_path / "belief.npz")
    assert again.target_steps == 20


@pytest.fixture
def resumed(tmp_path):
    return node("identifier", run_dir=str(tmp_path), share=1.0)


@launch_pytest.fixture
def resumed_graph(ros_domain, tmp_path, hidden, resumed):
    """An identifier in a folder that another one has left after 100 steps."""
    belief = Belief(TASK, "randomized", 0)
    for batch in play(hidden, 100):
        belief.observe(batch)
    belief.fit()
    kept.keep(belief, tmp_path / "belief.npz")
    return graph_of(resumed)


@pytest.mark.launch(fixture=resumed_graph)
def test_a_restart_publishes_what_the_run_left_and_goes_on_with_its_evidence(ours, hidden, tmp_path):
    heard = ours.listen(ArmBelief, "belief", qos.LATCHED)
    ours.spin_until(lambda: heard)
    assert heard[0].target_steps == 100
    assert heard[0].prediction_error < 0.2 < heard[0].prior_prediction_error
    np.testing.assert_allclose(np.array(heard[0].means)[PLACES], BIASES, atol=0.15)
    to_target = ours.node.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
    ours.spin_until(lambda: to_target.get_subscription_count() == 1)
    send(to_target, ours, play(hidden, 50, seed=1), run_id="")
    ours.spin_until(lambda: len(heard) == 2)
    assert heard[1].target_steps == 150
    np.testing.assert_allclose(np.array(heard[1].means)[PLACES], BIASES, atol=0.15)
    again = Belief(TASK, "randomized", 0)
    kept.restore(again, tmp_path / "belief.npz")
    assert again.target_steps == 150


@pytest.fixture
def without_evidence(tmp_path):
    (tmp_path / "belief.yaml").write_text(
        f"parameters:\n  action_bias: {{normal: [{BIASES}, 0.02]}}\n  command_delay: 1\n"
    )
    (tmp_path / "belief.npz").write_bytes(b"PK and no more")
    return node("identifier", run_dir=str(tmp_path))


@launch_pytest.fixture
def without_evidence_graph(ros_domain, without_evidence):
    return graph_of(without_evidence)


@pytest.mark.launch(fixture=without_evidence_graph)
def test_lost_evidence_is_reported_and_costs_only_itself(ours, launch_context, without_evidence):
    assert process_tools.wait_for_stderr_sync(
        launch_context, without_evidence, lambda text: "evidence of the run's belief is lost" in text, timeout=PATIENCE
    )
    heard = ours.listen(ArmBelief, "belief", qos.LATCHED)
    ours.spin_until(lambda: heard)
    domain = domain_from_msg(heard[0], load_domain("randomized"))
    np.testing.assert_allclose(domain.drawn["action_bias"].distribution.mean, BIASES, atol=1e-3)
    np.testing.assert_allclose(domain.drawn["action_bias"].distribution.std, 0.02, atol=1e-3)
    assert heard[0].command_delay == 1


@pytest.fixture
def damaged(tmp_path):
    (tmp_path / "belief.yaml").write_text("parameters: {nonsense: 1}\n")
    return node("identifier", run_dir=str(tmp_path))


@launch_pytest.fixture
def damaged_graph(ros_domain, damaged):
    return graph_of(damaged)


@pytest.mark.launch(fixture=damaged_graph)
def test_a_damaged_belief_is_named_and_left_behind(launch_context, damaged):
    assert process_tools.wait_for_stderr_sync(
        launch_context,
        damaged,
        lambda text: "unknown name 'nonsense'" in text and "starting from" in text,
        timeout=PATIENCE,
    )


def test_a_belief_that_makes_no_sense_is_refused_by_field():
    prior = load_domain("randomized")
    good = {"names": list(NAMES), "means": [1.0] * len(NAMES), "deviations": [0.1] * len(NAMES)}
    domain_from_msg(ArmBelief(**good), prior)
    for field, value in (
        ("names", ["mass"]),
        ("means", [1.0]),
        ("means", [float("nan")] * len(NAMES)),
        ("means", [1e39, *good["means"][1:]]),
        ("means", (HIGH + 0.01).tolist()),
        ("means", (LOW - 0.01).tolist()),
        ("deviations", [-1.0] * len(NAMES)),
        ("deviations", [float("inf")] * len(NAMES)),
        ("command_delay", 99),
    ):
        for receive in (check_belief, lambda msg: domain_from_msg(msg, prior)):
            with pytest.raises(InvalidData, match=f"^{field}: "):
                receive(ArmBelief(**{**good, field: value}))
    with pytest.raises(InvalidData, match="payload_mass is 6, 0 to 5 is possible"):
        check_belief(ArmBelief(**{**good, "means": [6.0, *good["means"][1:]]}))
    for bound in (LOW, HIGH):
        check_belief(ArmBelief(**{**good, "means": bound.tolist(), "deviations": [0.0] * len(NAMES)}))
