"""The target collector on the stand-in robot, in lockstep over DDS; all tests share the two nodes."""

import launch_pytest
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from collector_peer import CONTRACT, ROBOT, Ears, Evaluator, make_artifact, robot_sim
from graphs import graph_of, node
from ompo_msgs.msg import EpisodeSummary
from ompo_msgs.srv import GetPolicy, SetEnabled
from probe import Probe
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ompo_ros.nodes.wire.conversions import check_episode, transitions_from_msg
from ompo_ros.nodes.wire.robot_topics import COMMANDS
from ompo_ros.task.tasks import EPISODE_STEPS
from ompo_ros.transitions import Origin

pytestmark = pytest.mark.xdist_group("target_collector")  # one worker for all, so that the nodes start once


@pytest.fixture(scope="module", autouse=True)
def ros_domain(module_domain):
    return module_domain


@pytest.fixture(scope="module")
def collector():
    return node("target_collector", enabled=True, lockstep=True)


@pytest.fixture(scope="module")
def robot():
    return robot_sim(domain="hidden")


@launch_pytest.fixture(scope="module")
def graph(ros_domain, robot, collector):
    return graph_of(robot, collector)


@pytest.fixture(scope="module")
def ears(ros_domain):
    probe = Probe()
    yield Ears(probe)
    probe.close()


@pytest.mark.launch(fixture=graph)
def test_whole_episodes_come_numbered_and_checked(ears):
    ears.begin_anew()
    ears.until(lambda: len(ears.batches) >= 3 and len(ears.episodes) >= 3)
    assert [batch.sequence for batch in ears.batches[:3]] == list(
        range(ears.batches[0].sequence, ears.batches[0].sequence + 3)
    )
    assert {batch.session for batch in ears.batches} == {ears.batches[0].session}
    for batch in ears.batches:
        transitions = transitions_from_msg(batch)
        assert transitions.origin is Origin.TARGET
        assert len(transitions) == EPISODE_STEPS
        assert transitions.obs_dim == CONTRACT.observation_size
        assert transitions.truncated.sum() == 1
        assert set(transitions.policy_version) == {ears.version}
        assert set(transitions.domain_id) == {0}, "of the arm nobody knows more than its topics say"
    for episode in ears.episodes:
        check_episode(episode)
        assert (episode.outcome, episode.steps, episode.origin) == (EpisodeSummary.TRUNCATED, 50, EpisodeSummary.TARGET)
        assert (episode.domain_id, list(episode.domain_names), list(episode.domain_values)) == (0, [], [])


@pytest.mark.launch(fixture=graph)
def test_the_newest_policy_acts_and_a_broken_one_does_not(ears):
    ears.begin_anew()
    newest = ears.publish_policy()
    ears.wait_for_batches_of(newest)
    broken = make_artifact(newest + 1)
    broken.onnx = bytes(broken.onnx)[:-1]
    ears.policies.publish(broken)
    ears.probe.wait_for_more(ears.batches, 3)
    assert ears.batches[-1].policy_version[-1] == newest
    ears.wait_for_batches_of(ears.publish_policy())


@pytest.mark.launch(fixture=graph)
@pytest.mark.parametrize(
    ("joints", "value", "said"),
    [(7, float("nan"), "not finite for panda_joint1"), (6, 0.0, "lack panda_joint7")],
    ids=["nan", "a joint missing"],
)
def test_a_broken_state_drops_the_episode_whole_and_the_next_comes(ears, collector, joints, value, said):
    ears.begin_anew()
    bad = JointState(name=ROBOT.joint_names[:joints], position=[value] * joints, velocity=[0.0] * joints)
    pauses = np.random.default_rng(0)
    due = 0

    def drops_one():
        nonlocal due
        if len(ears.commands) >= due:  # not at every turn, which would let no episode begin
            ears.states.publish(bad)
            due = len(ears.commands) + pauses.integers(10, 120)
        return EpisodeSummary.DROPPED in ears.outcomes()

    def is_told():
        ears.states.publish(bad)  # at every turn: a warning soon after another one is not shown
        return said in collector.get_stderr()

    ears.until(drops_one)
    ears.until(is_told)
    ears.probe.wait_for_more(ears.batches, 2)
    for batch in ears.batches:
        assert transitions_from_msg(batch).step.tolist() == list(range(EPISODE_STEPS))


def enable(ears, enabled):
    request = SetEnabled.Request(enabled=enabled)
    assert ears.probe.call(SetEnabled, "/ompo/target_collector/set_enabled", request).success


@pytest.mark.launch(fixture=graph)
def test_disabled_no_command_leaves_and_enabled_it_goes_on(ears):
    ears.begin_anew()
    ears.until(lambda: ears.commands)
    try:
        enable(ears, False)
        ears.until(lambda: ears.message == "holding")
        ears.probe.wait_for_silence(ears.commands, ears.reports)
    finally:
        enable(ears, True)
    ears.probe.wait_for_more(ears.batches)


@pytest.mark.launch(fixture=graph)
def test_evaluate_plays_the_episodes_asked_for_and_sends_none_of_them_to_the_learner(ears):
    ears.begin_anew()
    evaluator = Evaluator(ears)
    ears.wait_for_batches_of(ears.version)
    assert not evaluator.send(episodes=0).accepted
    handle = evaluator.send(episodes=3)
    assert handle.accepted
    assert not evaluator.send(episodes=1).accepted  # one at a time
    answer = evaluator.result(handle)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    result = answer.result
    assert (result.success, len(result.episodes)) == (True, 3)
    assert all(episode.deterministic and episode.policy_version == ears.version for episode in result.episodes)
    assert result.mean_return == pytest.approx(np.mean([episode.episode_return for episode in result.episodes]))
    assert [message.feedback.completed for message in evaluator.feedback] == [1, 2, 3]
    ears.probe.wait_for_more(ears.batches)  # exploration goes on
    ears.until(lambda: len([episode for episode in ears.episodes if not episode.deterministic]) >= len(ears.batches))
    assert len([episode for episode in ears.episodes if episode.deterministic]) == 3
    numbers = [batch.sequence for batch in ears.batches]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.launch(fixture=graph)
def test_a_cancelled_evaluation_ends_and_exploration_goes_on(ears):
    ears.begin_anew()
    evaluator = Evaluator(ears)
    handle = evaluator.send(episodes=10_000)
    ears.until(lambda: evaluator.feedback)
    handle.cancel_goal_async()
    answer = evaluator.result(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.message == "cancelled"
    ears.probe.wait_for_more(ears.batches)


class SlowServer:
    """A policy server that loses its first answers."""

    def __init__(self, ears, loses):
        self.asked, self._loses = 0, loses
        self._node = ears.probe.node
        group = ReentrantCallbackGroup()  # a call that is never answered keeps no other one waiting
        name = "/ompo/policy_server/get_policy"
        self._service = self._node.create_service(GetPolicy, name, self._get, callback_group=group)

    async def _get(self, request, response):
        self.asked += 1
        if self.asked <= self._loses:
            await Future()
        response.success, response.policy = True, make_artifact(request.version)
        return response

    def close(self):
        self._node.destroy_service(self._service)


@pytest.mark.launch(fixture=graph)
def test_a_lost_answer_of_the_policy_server_blocks_no_evaluation(ears):
    ears.begin_anew()
    evaluator, server = Evaluator(ears), SlowServer(ears, loses=2)
    other = ears.version + 1000

    def ask():
        """A policy that does not run here; refused until the collector has found the server."""
        asked, handle = server.asked, evaluator.send(episodes=1, policy_version=other)
        done = handle.get_result_async()
        ears.until(lambda: server.asked > asked or done.done())
        return handle if server.asked > asked else ask()

    try:
        handle = ask()
        handle.cancel_goal_async()
        cancelled = evaluator.result(handle)
        assert (cancelled.status, cancelled.result.message) == (GoalStatus.STATUS_CANCELED, "cancelled")
        answer = evaluator.result(ask())
        assert answer.status == GoalStatus.STATUS_SUCCEEDED, answer.result.message
        assert [episode.policy_version for episode in answer.result.episodes] == [other]
        assert server.asked == 3
    finally:
        server.close()


@pytest.mark.launch(fixture=graph)
def test_while_another_node_commands_the_arm_it_holds(ears):
    ears.begin_anew()
    ears.until(lambda: ears.batches)
    rival = ears.probe.node.create_publisher(Float64MultiArray, f"/ompo/{ROBOT.driver.command_topic}", COMMANDS)
    try:
        ears.until(lambda: "2 nodes send commands" in ears.message)
        ears.probe.wait_for_silence(ears.commands, ears.reports)
    finally:
        ears.probe.node.destroy_publisher(rival)
    ears.probe.wait_for_more(ears.batches)
