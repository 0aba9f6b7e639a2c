"""A run's nodes hear their own run alone and, where a key is set, only who has it."""

import copy
import time

import launch_pytest
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.msg import ActorWeights, EpisodeSummary, LearnerStatus, PolicyArtifact, TransitionBatch
from ompo_msgs.srv import ActivatePolicy, GetPolicy, ListPolicies, SetEnabled
from probe import Probe
from rclpy.node import Node
from shipped_policy import shipped_policy, shipped_tensors
from waiting import PATIENCE

from ompo_ros.control.controller import ControllerPhase
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg, tensors_to_msgs, transitions_to_msg
from ompo_ros.nodes.wire.identity import GET_POLICY, Identity, NotOurs, enabling_request
from ompo_ros.policy.actor import Actor
from ompo_ros.signing import new_key
from ompo_ros.transitions import Origin, Transitions

CONTROLLER = "/ompo/policy_controller"
ENABLE = f"{CONTROLLER}/set_enabled"


@pytest.fixture
def key(tmp_path, monkeypatch):
    new_key(tmp_path / "key")
    monkeypatch.setenv("OMPO_KEY_FILE", str(tmp_path / "key"))


@pytest.fixture
def lab(ros_domain):
    lab = Probe(namespace="ompo")
    yield lab
    lab.close()


def identity_of(lab: Probe, run_id: str) -> Identity:
    return Identity(Node(f"sender_{run_id}", context=lab.context), run_id)


def weights(version: int) -> ActorWeights:
    tensors, architecture = shipped_tensors(), Actor(shipped_tensors()).shape.architecture
    return ActorWeights(
        version=version, obs_dim=20, act_dim=7, architecture=architecture, tensors=tensors_to_msgs(tensors)
    )


@pytest.fixture
def controller():
    return node("policy_controller", run_id="ours", lockstep=True)


@launch_pytest.fixture
def arm(ros_domain, controller):
    return graph_of(node("robot_sim", domain="nominal", real_time_factor=0.0), controller)


@launch_pytest.fixture
def arm_with_key(ros_domain, key, controller):
    return graph_of(controller)


@pytest.mark.launch(fixture=arm)
def test_an_arm_obeys_its_own_run_or_a_person_and_stops_for_anybody(lab, controller, launch_context):
    enable = lambda enabled, run_id: lab.call(SetEnabled, ENABLE, SetEnabled.Request(enabled=enabled, run_id=run_id))  # noqa: E731
    refused = enable(True, "theirs")
    assert not refused.success
    assert "of run 'theirs', this node of run 'ours'" in refused.message
    assert [enable(True, run_id).message for run_id in ("ours", "")] == ["enabled", "enabled"]
    assert enable(False, "theirs").message == "braking, then silent"

    stable = lab.node.create_publisher(PolicyArtifact, "policy/stable", qos.LATCHED)
    expected = {"theirs": "refused PolicyArtifact (1 refused so far): it is of run 'theirs'", "ours": "policy 2 takes"}
    for version, (run_id, line) in enumerate(expected.items(), 1):
        msg = artifact_to_msg(shipped_policy(version).onnx, version=version)
        stable.publish(identity_of(lab, run_id).sign(msg, "policy/stable"))
        assert process_tools.wait_for_stderr_sync(
            launch_context, controller, lambda text, line=line: line in text, PATIENCE
        )


@pytest.mark.launch(fixture=arm)
def test_a_runs_repeated_call_undoes_no_stop_and_lifts_no_hold(lab, controller, launch_context):
    def enable(enabled, run_id):
        return lab.call(SetEnabled, ENABLE, SetEnabled.Request(enabled=enabled, run_id=run_id)).message

    reports = lab.listen(DiagnosticArray, "/diagnostics", 10)
    assert [enable(True, "ours") for _ in range(2)] == ["enabled", "enabled before"]
    assert enable(False, "") == "braking, then silent"
    assert enable(True, "ours").startswith("stays disabled")
    lab.wait_for_more(reports, 2)
    assert reports[-1].status[0].message == ControllerPhase.DISABLED.value
    assert [enable(True, run_id) for run_id in ("", "ours")] == ["enabled", "enabled before"]
    whole = lambda text: text.count("enabled before") == 2  # noqa: E731
    assert process_tools.wait_for_stderr_sync(launch_context, controller, whole, timeout=PATIENCE)
    assert controller.get_stderr().count("enabled, as asked by ~/set_enabled") == 2


@pytest.mark.launch(fixture=arm)
def test_a_stop_that_comes_before_the_run_enables_counts_too(lab):
    for enabled, run_id, answer in ((False, "", "braking"), (True, "ours", "stays disabled"), (True, "", "enabled")):
        request = SetEnabled.Request(enabled=enabled, run_id=run_id)
        assert lab.call(SetEnabled, ENABLE, request).message.startswith(answer)


@pytest.mark.launch(fixture=arm_with_key)
def test_an_arm_with_a_key_is_enabled_only_by_a_fresh_call_signed_for_it(lab):
    call = lambda request: lab.call(SetEnabled, ENABLE, request)  # noqa: E731
    assert "not signed" in call(SetEnabled.Request(enabled=True)).message
    assert "not signed" in call(enabling_request(True, "/ompo/another_arm")).message
    theirs = call(enabling_request(True, CONTROLLER, "theirs"))
    assert "of run 'theirs'" in theirs.message

    forged = enabling_request(False, CONTROLLER)
    forged.enabled = True
    assert "not signed" in call(forged).message
    moved = enabling_request(True, CONTROLLER)
    moved.stamp.sec += 1
    assert "not signed" in call(moved).message

    good, newer = enabling_request(True, CONTROLLER, "ours"), enabling_request(True, CONTROLLER)
    assert call(good).success
    assert "no newer than the last one" in call(good).message
    assert call(newer).success
    assert call(SetEnabled.Request(enabled=False)).success


def test_a_signed_call_of_another_time_is_refused(lab, key, monkeypatch):
    arm = identity_of(lab, "ours")
    name = arm._node.get_fully_qualified_name()
    now = time.time_ns()
    for seconds in (-11, 11):
        with monkeypatch.context() as patched:
            patched.setattr(time, "time_ns", lambda seconds=seconds: now + seconds * 10**9)
            request = enabling_request(True, name, "ours")
        assert "off this machine's clock" in arm.enabling_problem(request)
    assert arm.enabling_problem(enabling_request(True, name, "ours")) == ""


@pytest.mark.launch(fixture=arm)
def test_an_arm_holds_while_another_node_answers_to_its_name(lab):
    reports = lab.listen(DiagnosticArray, "/diagnostics", 10)
    says = lambda text: bool(reports) and text in reports[-1].status[0].message  # noqa: E731
    lab.spin_until(lambda: reports and not says("another node"))
    twin = lab.node.create_service(SetEnabled, ENABLE, lambda _, response: response)
    lab.spin_until(lambda: says(f"another node has the name {CONTROLLER}: stop it"))
    lab.node.destroy_service(twin)
    lab.spin_until(lambda: not says("another node"))


@launch_pytest.fixture
def learning(ros_domain, tmp_path):
    return graph_of(node("learner", run_id="ours", run_dir=str(tmp_path)))


@pytest.mark.launch(fixture=learning)
def test_a_learner_takes_only_its_runs_transitions_and_reports_as_its_run(lab):
    statuses = lab.listen(LearnerStatus, "status", qos.LATCHED)
    sender = lab.node.create_publisher(TransitionBatch, "source/transitions", qos.TRANSITIONS)
    lab.spin_until(sender.get_subscription_count)
    for run_id in ("theirs", "ours", "theirs"):
        sender.publish(
            transitions_to_msg(
                some_transitions(4), collector_id="test", session=1, sequence=0, stamp=Time(), run_id=run_id
            )
        )
    lab.spin_until(lambda: statuses and statuses[-1].refused_messages == 2, hint=lambda: str(statuses[-1:]))
    assert (statuses[-1].run_id, statuses[-1].source_steps, statuses[-1].lost_batches) == ("ours", 4, 0)


def some_transitions(n: int) -> Transitions:
    zeros, counts = np.zeros((n, 20), np.float32), np.zeros(n, np.uint32)
    return Transitions(
        origin=Origin.SOURCE,
        obs=zeros,
        action=zeros[:, :7],
        reward=zeros[:, 0],
        next_obs=zeros,
        terminated=counts.astype(bool),
        truncated=counts.astype(bool),
        step=counts,
        policy_version=counts,
        domain_id=counts,
    )


@pytest.fixture
def server(tmp_path):
    return node("policy_server", run_id="ours", registry_dir=str(tmp_path / "policies"), gate=False)


@launch_pytest.fixture
def registry(ros_domain, server):
    return graph_of(server)


@launch_pytest.fixture
def registry_with_key(ros_domain, key, server):
    return graph_of(server)


def versions(lab: Probe) -> list[int]:
    return [p.version for p in lab.call(ListPolicies, "policy_server/list_policies", ListPolicies.Request()).policies]


def published(lab: Probe):
    actor = lab.node.create_publisher(ActorWeights, "actor", qos.LATCHED)
    lab.spin_until(actor.get_subscription_count)
    return actor


@pytest.mark.launch(fixture=registry)
def test_a_server_registers_only_its_runs_policies_and_sends_them_as_its_run(lab, server, launch_context):
    actor, latest = published(lab), lab.listen(PolicyArtifact, "policy/latest", qos.LATCHED)
    actor.publish(identity_of(lab, "theirs").sign(weights(1), "actor"))
    told = "refused ActorWeights (1 refused so far): it is of run 'theirs', this node of run 'ours'"
    assert process_tools.wait_for_stderr_sync(launch_context, server, lambda text: told in text, PATIENCE)
    actor.publish(identity_of(lab, "ours").sign(weights(2), "actor"))
    lab.spin_until(lambda: latest)
    assert versions(lab) == [2]
    assert (latest[0].run_id, len(latest[0].signature)) == ("ours", 0)

    activate = lambda run_id: lab.call(  # noqa: E731
        ActivatePolicy,
        "policy_server/activate_policy",
        ActivatePolicy.Request(version=2, channel="stable", run_id=run_id),
    )
    assert "of run 'theirs'" in activate("theirs").message
    assert [activate(run_id).success for run_id in ("", "ours")] == [True, True]


@pytest.mark.launch(fixture=registry_with_key)
def test_a_server_with_a_key_takes_only_signed_weights_and_signs_its_policies(lab, server, launch_context):
    actor, latest = published(lab), lab.listen(PolicyArtifact, "policy/latest", qos.LATCHED)
    unsigned = weights(1)
    unsigned.run_id = "ours"
    actor.publish(unsigned)
    told = "refused ActorWeights (1 refused so far): its signature is not of the key that OMPO_KEY_FILE names"
    assert process_tools.wait_for_stderr_sync(launch_context, server, lambda text: told in text, PATIENCE)
    actor.publish(identity_of(lab, "ours").sign(weights(4), "actor"))
    lab.spin_until(lambda: latest)
    assert versions(lab) == [4]

    collector = identity_of(lab, "ours")
    collector.check(latest[-1], "policy/latest")
    with pytest.raises(NotOurs, match="signature"):
        collector.check(latest[-1], "policy/stable")
    answer = lab.call(GetPolicy, "policy_server/get_policy", GetPolicy.Request(version=4))
    collector.check(answer.policy, GET_POLICY)


def test_a_latched_policy_may_come_again_and_an_older_one_may_not(lab, key):
    server, heard = identity_of(lab, "ours"), []
    collector = identity_of(lab, "ours")
    hear = collector.only_ours(heard.append, "policy/latest")
    first = server.sign(artifact_to_msg(b"first", version=1), "policy/latest")
    second = server.sign(artifact_to_msg(b"second", version=2), "policy/latest")
    for msg in (first, first, second, first, second):
        hear(copy.deepcopy(msg))
    assert [msg.version for msg in heard] == [1, 1, 2, 2]
    assert collector.refused == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("run_id", "theirs"),
        ("version", 9),
        ("updates", 9),
        ("target_steps", 9),
        ("obs_dim", 9),
        ("act_dim", 9),
        ("architecture", "relu"),
        ("stamp", Time(sec=1)),
        ("tensors", []),
        ("signature", b""),
    ],
)
def test_no_field_of_signed_weights_can_be_changed(lab, key, field, value):
    learner = identity_of(lab, "ours")
    msg = learner.sign(weights(1), "actor")
    learner.check(msg, "actor")
    setattr(msg, field, value)
    with pytest.raises(NotOurs):
        learner.check(msg, "actor")


def test_no_weight_and_no_byte_of_a_signed_policy_can_be_changed(lab, key):
    sender = identity_of(lab, "ours")
    actor = sender.sign(weights(1), "actor")
    actor.tensors[0].data[0] += 1.0
    policy = sender.sign(artifact_to_msg(b"policy", version=1), "policy/latest")
    policy.onnx[0] += 1
    for msg, channel in ((actor, "actor"), (policy, "policy/latest")):
        with pytest.raises(NotOurs, match="signature"):
            sender.check(msg, channel)


@pytest.mark.parametrize("kind", [EpisodeSummary, LearnerStatus])
def test_what_moves_no_arm_needs_no_signature(lab, key, kind):
    heard = []
    identity_of(lab, "ours").only_ours(heard.append)(kind(run_id="ours"))
    assert len(heard) == 1


def test_a_key_that_others_can_read_keeps_a_node_from_starting(lab, key, tmp_path):
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(OSError, match="chmod 600"):
        identity_of(lab, "ours")
