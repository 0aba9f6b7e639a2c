"""The target collector on the stand-in robot, both as users start them, in lockstep over DDS."""

import os
import signal
import time

import launch_pytest
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import EpisodeSummary, PolicyArtifact, TransitionBatch
from ompo_msgs.srv import GetPolicy, SetEnabled
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header
from trajectory_msgs.msg import JointTrajectory

from ompo_ros.experiments.campaign.checks import reconstruct
from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import read_limits
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg, check_episode, transitions_from_msg
from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.policy.actor import Actor, ActorShape
from ompo_ros.policy.artifact import make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import EPISODE_STEPS, Task
from ompo_ros.transitions import Origin

ROBOT = load_robot("panda")
CONTRACT = Task("reach", "dense").contract


def robot_sim(**parameters):
    return node("robot_sim", simulator="mujoco", real_time_factor=0.0, **{"domain": "nominal", **parameters})


@pytest.fixture
def collector():
    return node("target_collector", enabled=True, lockstep=True)


@pytest.fixture
def robot():
    return robot_sim(domain="hidden")


@launch_pytest.fixture
def graph(ros_domain, robot, collector):
    return graph_of(robot, collector)


@launch_pytest.fixture
def fr3_graph(ros_domain, collector):
    return graph_of(robot_sim(robot="fr3"), collector)


@launch_pytest.fixture
def all_fr3_graph(ros_domain):
    return graph_of(robot_sim(robot="fr3"), node("target_collector", enabled=True, lockstep=True, robot="fr3"))


@launch_pytest.fixture
def limited_graph(ros_domain):
    return graph_of(robot_sim(), node("target_collector", enabled=True, lockstep=True, target_steps=100))


@launch_pytest.fixture
def dry_graph(ros_domain):
    robot = node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=2.0)
    return graph_of(robot, node("target_collector", enabled=True, use_sim_time=True, dry_run=True))


@launch_pytest.fixture
def push_graph(ros_domain):
    options = {"task": "push", "driver": "multipanda_ros2"}
    return graph_of(
        robot_sim(**options), node("target_collector", enabled=True, lockstep=True, reward="sparse", **options)
    )


@launch_pytest.fixture
def lone_push_graph(ros_domain):
    return graph_of(node("target_collector", enabled=True, task="push"))


@pytest.fixture
def live_collector():
    return node("target_collector", enabled=True, driver="franka_ros2")


@launch_pytest.fixture
def live_graph(ros_domain, live_collector):
    robot = node("robot_sim", simulator="mujoco", domain="nominal", driver="franka_ros2")
    return graph_of(robot, live_collector)


@launch_pytest.fixture
def timed_graph(ros_domain):
    robot = node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=2.0)
    return graph_of(robot, node("target_collector", enabled=True, use_sim_time=True))


def make_artifact(version, contract=CONTRACT):
    rng, size = np.random.default_rng(version), contract.observation_size
    tensors = {
        name: np.asarray(rng.normal(0.0, 0.1, shape), np.float32)
        for name, shape in ActorShape("elu", size, 16, 7).tensor_shapes().items()
    }
    limits = {"obs_clip": 10.0, "log_std_min": -20.0, "log_std_max": 2.0}
    tensors |= {
        "obs_scale": np.ones(size, np.float32),
        **{key: np.full((), v, np.float32) for key, v in limits.items()},
    }
    policy = make_policy(Actor(tensors), contract, version=version, stamp=1.0, training=Training(1, 1))
    return artifact_to_msg(policy.onnx, version=version)


class Ears:
    """What the collector tells, and a way to break its robot."""

    def __init__(self, probe):
        self.probe = probe
        self.batches = probe.listen(TransitionBatch, "/ompo/target/transitions", qos.TRANSITIONS)
        self.episodes = probe.listen(EpisodeSummary, "/ompo/target/episodes", qos.EPISODES)
        self.commands = probe.listen(Float64MultiArray, f"/ompo/{ROBOT.driver.command_topic}", COMMANDS)
        self.reports = probe.listen(DiagnosticArray, "/diagnostics", 10)
        self.states = probe.node.create_publisher(JointState, "/ompo/joint_states", STATES)
        self.policies = probe.node.create_publisher(PolicyArtifact, "/ompo/policy/latest", qos.LATCHED)
        self.policies.publish(make_artifact(1))

    def until(self, condition):
        self.probe.spin_until(condition, hint=lambda: f"{len(self.episodes)} episodes, {self.message}")

    @property
    def message(self):
        return self.reports[-1].status[0].message if self.reports else ""

    def outcomes(self):
        return [episode.outcome for episode in self.episodes]


@pytest.fixture
def ears(probe):
    return Ears(probe)


@pytest.mark.launch(fixture=graph)
def test_whole_episodes_come_numbered_and_checked(ears):
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
        assert set(transitions.policy_version) == {1}
    for episode in ears.episodes:
        check_episode(episode)
        assert (episode.outcome, episode.steps, episode.origin) == (EpisodeSummary.TRUNCATED, 50, EpisodeSummary.TARGET)


@pytest.mark.launch(fixture=graph)
def test_the_newest_policy_acts_and_a_broken_one_does_not(ears):
    ears.policies.publish(make_artifact(4))
    ears.until(lambda: ears.batches and ears.batches[-1].policy_version[-1] == 4)
    broken = make_artifact(5)
    broken.onnx = bytes(broken.onnx)[:-1]
    ears.policies.publish(broken)
    heard = len(ears.batches)
    ears.until(lambda: len(ears.batches) >= heard + 3)
    assert ears.batches[-1].policy_version[-1] == 4
    ears.policies.publish(make_artifact(6))
    ears.until(lambda: ears.batches[-1].policy_version[-1] == 6)


@pytest.mark.launch(fixture=graph)
def test_a_silent_robot_costs_its_episode_and_nothing_more(ears, robot):
    ears.until(lambda: ears.batches)
    os.kill(robot.process_details["pid"], signal.SIGSTOP)
    try:
        ears.until(lambda: EpisodeSummary.DROPPED in ears.outcomes() or "no joint state" in ears.message)
        ears.until(lambda: "no joint state" in ears.message)
        assert ears.reports[-1].status[0].level == DiagnosticStatus.WARN
        silent = len(ears.batches)
    finally:
        os.kill(robot.process_details["pid"], signal.SIGCONT)
    ears.until(lambda: len(ears.batches) >= silent + 2)
    assert all(batch.count == EPISODE_STEPS for batch in ears.batches)
    numbers = [batch.sequence for batch in ears.batches]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.launch(fixture=graph)
@pytest.mark.parametrize("broken", ["nan", "a joint missing"])
def test_a_broken_state_drops_the_episode_whole_and_the_next_comes(ears, collector, launch_context, broken):
    ears.until(lambda: ears.batches)
    names = list(ROBOT.joint_names)
    bad = JointState(name=names, position=[float("nan")] * 7, velocity=[0.0] * 7)
    if broken != "nan":
        bad = JointState(name=names[:6], position=[0.0] * 6, velocity=[0.0] * 6)
    told = "not finite for panda_joint1" if broken == "nan" else "lack panda_joint7"

    def said():
        ears.states.publish(bad)
        return process_tools.wait_for_stderr_sync(launch_context, collector, lambda text: told in text, timeout=0.1)

    def dropped_one():
        ears.states.publish(bad)
        ears.probe.spin_for(0.1)  # lockstep is quick: by then the arm is home again
        return EpisodeSummary.DROPPED in ears.outcomes()

    ears.until(dropped_one)
    ears.until(said)  # again and again: a warning right after another one is not shown
    dropped = len(ears.batches)
    ears.until(lambda: len(ears.batches) >= dropped + 2)
    for batch in ears.batches:
        assert transitions_from_msg(batch).step.tolist() == list(range(EPISODE_STEPS))


@pytest.mark.launch(fixture=fr3_graph)
def test_the_wrong_robot_is_refused_with_a_sentence_and_never_commanded(ears):
    ears.until(lambda: "fr3_joint1" in ears.message)
    assert "the robot preset expects panda_joint1" in ears.message
    assert "check the parameter `robot`" in ears.message
    assert not ears.commands


@pytest.mark.launch(fixture=all_fr3_graph)
def test_an_fr3_runs_policies_made_for_it(ears):
    ears.policies.publish(make_artifact(4, Task("reach", "dense").on(load_robot("fr3"))))
    ears.until(lambda: ears.batches and ears.batches[-1].policy_version[-1] == 4)


@pytest.mark.launch(fixture=graph)
def test_disabled_no_command_leaves_and_enabled_it_goes_on(ears):
    ears.until(lambda: ears.batches and ears.commands)
    assert ears.probe.call(SetEnabled, "/ompo/target_collector/set_enabled", SetEnabled.Request(enabled=False)).success
    ears.until(lambda: ears.message == "holding")
    ears.probe.spin_for(0.3)
    silent, episodes = len(ears.commands), len(ears.batches)
    ears.probe.spin_for(1.0)
    assert len(ears.commands) == silent
    assert ears.probe.call(SetEnabled, "/ompo/target_collector/set_enabled", SetEnabled.Request(enabled=True)).success
    ears.until(lambda: len(ears.batches) > episodes)


class Evaluator:
    """A client of the action, and a policy server that knows one policy."""

    def __init__(self, ears):
        self.ears, self.feedback = ears, []
        self.client = ActionClient(ears.probe.node, Evaluate, "/ompo/target_collector/evaluate")
        ears.until(self.client.server_is_ready)

    def send(self, **goal):
        future = self.client.send_goal_async(Evaluate.Goal(**goal), feedback_callback=self.feedback.append)
        self.ears.until(future.done)
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.ears.until(future.done)
        return future.result()


@pytest.mark.launch(fixture=graph)
def test_evaluate_plays_the_episodes_asked_for_and_sends_none_of_them_to_the_learner(ears):
    evaluator = Evaluator(ears)
    ears.policies.publish(make_artifact(4))
    ears.until(lambda: ears.batches and ears.batches[-1].policy_version[-1] == 4)
    assert not evaluator.send(episodes=0).accepted
    handle = evaluator.send(episodes=3)
    assert handle.accepted
    assert not evaluator.send(episodes=1).accepted  # one at a time
    answer = evaluator.result(handle)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    result = answer.result
    assert (result.success, len(result.episodes)) == (True, 3)
    assert all(episode.deterministic and episode.policy_version == 4 for episode in result.episodes)
    assert result.mean_return == pytest.approx(np.mean([episode.episode_return for episode in result.episodes]))
    assert [message.feedback.completed for message in evaluator.feedback] == [1, 2, 3]
    explored = len(ears.batches)
    ears.until(lambda: len(ears.batches) > explored)  # exploration goes on
    ears.until(lambda: len([episode for episode in ears.episodes if not episode.deterministic]) >= len(ears.batches))
    assert len([episode for episode in ears.episodes if episode.deterministic]) == 3
    numbers = [batch.sequence for batch in ears.batches]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.launch(fixture=limited_graph)
def test_another_version_is_fetched_from_the_policy_server_even_after_exploration_ended(ears):
    def answer(request, response):
        response.success = request.version == 8
        response.message = "" if response.success else "no such version"
        response.policy = make_artifact(8)
        return response

    ears.until(lambda: ears.message == "holding")
    evaluator = Evaluator(ears)
    lost = evaluator.result(evaluator.send(episodes=1, policy_version=8))
    assert (lost.status, lost.result.success) == (GoalStatus.STATUS_ABORTED, False)
    assert "policy_server/get_policy" in lost.result.message
    ears.probe.node.create_service(GetPolicy, "/ompo/policy_server/get_policy", answer)

    def found():
        return evaluator.result(evaluator.send(episodes=2, policy_version=8)).result

    result = found()
    while "does not answer" in result.message:
        result = found()
    assert [episode.policy_version for episode in result.episodes] == [8, 8]
    missing = evaluator.result(evaluator.send(episodes=2, policy_version=9)).result
    assert "no such version" in missing.message
    assert sum(batch.count for batch in ears.batches) <= 100


@pytest.mark.launch(fixture=graph)
def test_a_cancelled_evaluation_ends_and_exploration_goes_on(ears):
    ears.policies.publish(make_artifact(4))
    ears.until(lambda: ears.batches and ears.batches[-1].policy_version[-1] == 4)
    evaluator = Evaluator(ears)
    handle = evaluator.send(episodes=10_000)
    ears.until(lambda: evaluator.feedback)
    handle.cancel_goal_async()
    answer = evaluator.result(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.message == "cancelled"
    explored = len(ears.batches)
    ears.until(lambda: len(ears.batches) > explored)


@pytest.mark.launch(fixture=dry_graph)
def test_a_dry_run_does_everything_but_command_and_teach(ears):
    ears.until(lambda: len(ears.episodes) >= 1)
    assert not ears.commands
    assert not ears.batches


@pytest.mark.launch(fixture=graph)
def test_while_another_node_commands_the_arm_it_holds(ears):
    ears.until(lambda: ears.batches)
    rival = ears.probe.node.create_publisher(Float64MultiArray, f"/ompo/{ROBOT.driver.command_topic}", COMMANDS)
    ears.until(lambda: "2 nodes send commands" in ears.message)
    ears.probe.spin_for(0.5)
    ears.commands.clear()
    ears.probe.spin_for(0.5)
    assert not ears.commands
    ears.probe.node.destroy_publisher(rival)
    taught = len(ears.batches)
    ears.until(lambda: len(ears.batches) > taught)


@pytest.mark.launch(fixture=push_graph)
def test_push_over_trajectory_messages(ears):
    ears.policies.publish(make_artifact(2, Task("push", "sparse").contract))
    ears.until(lambda: len(ears.batches) >= 2)
    transitions = transitions_from_msg(ears.batches[-1])
    assert transitions.obs_dim == Task("push", "sparse").contract.observation_size
    assert set(np.unique(transitions.reward)) <= {-1.0, 0.0}


@pytest.mark.launch(fixture=lone_push_graph)
def test_a_cube_in_another_frame_or_of_long_ago_is_no_cube(ears):
    ears.policies.publish(make_artifact(2, Task("push", "dense").contract))
    cubes = ears.probe.node.create_publisher(PointStamped, "/ompo/cube", STATES)
    still = JointState(name=ROBOT.joint_names, position=ROBOT.home.tolist(), velocity=[0.0] * 7)

    def until_told(words, frame):
        def told():
            if frame:
                cubes.publish(PointStamped(header=Header(frame_id=frame)))
            ears.states.publish(still)
            return words in ears.message if words else ears.commands

        ears.until(told)

    until_told("`cube` is silent", "camera")
    assert not ears.commands
    until_told("", CONTRACT.frame)
    until_told("`cube` is silent", "")


@pytest.mark.launch(fixture=timed_graph)
def test_in_its_own_time_the_loop_keeps_its_rate_and_reports_it(ears):
    def figures():
        return {entry.key: entry.value for entry in ears.reports[-1].status[0].values} if ears.reports else {}

    ears.until(lambda: ears.batches and int(figures().get("ticks", 0)) > 50)
    ears.until(lambda: any(key.startswith("filtered: ") for key in figures()))
    assert float(figures()["target_rate"]) == 25.0
    ears.until(lambda: 20.0 < float(figures()["actual_rate"]) < 26.0)
    assert int(figures()["filter_calls"]) > 0
    assert ears.reports[-1].status[0].hardware_id == "panda"


class Trajectories:
    """The trajectories a real-time collector sends, as the fault campaign's judge wants them."""

    def __init__(self, ears):
        self._heard = []
        self._offset = time.monotonic_ns() - time.time_ns()
        topic = f"/ompo/{load_robot('panda', 'franka_ros2').driver.command_topic}"
        ears.probe.node.create_subscription(JointTrajectory, topic, self._hear, QoSProfile(depth=100))

    def _hear(self, msg):
        # In whole nanoseconds: a float of the epoch would shake the jerk.
        stamp = (msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec + self._offset) * 1e-9
        points = tuple(
            Point(
                point.time_from_start.sec + point.time_from_start.nanosec * 1e-9,
                *(np.array(values) for values in (point.positions, point.velocities, point.accelerations)),
            )
            for point in msg.points
        )
        self._heard.append(Command(stamp + 0.005, points, stamp))

    def __len__(self):
        return len(self._heard)

    def moves(self):
        return bool(self._heard) and any(np.abs(point.velocity).max() > 0.3 for point in self._heard[-1].points)

    def motion(self):
        until = self._heard[-1].received + 1.0
        return reconstruct(self._heard, self._heard[0].points[0].position, read_limits("panda", "franka_ros2"), until)


@pytest.mark.launch(fixture=live_graph)
def test_a_collector_that_was_stopped_does_not_pull_the_arm_back(ears, live_collector):
    sent = Trajectories(ears)
    for stall in (0.15, 0.3, 0.6):
        ears.until(sent.moves)
        os.kill(live_collector.process_details["pid"], signal.SIGSTOP)
        ears.probe.spin_for(stall)
        os.kill(live_collector.process_details["pid"], signal.SIGCONT)
        heard = len(sent)
        ears.until(lambda heard=heard: len(sent) > heard + 10)
    assert sent.motion()[1] == []


@pytest.mark.launch(fixture=live_graph)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_it_brakes_the_arm_first(ears, live_collector, launch_context, number):
    sent = Trajectories(ears)
    ears.until(sent.moves)
    os.kill(live_collector.process_details["pid"], number)
    assert process_tools.wait_for_exit_sync(launch_context, live_collector, timeout=10)
    ended = time.monotonic()
    ears.probe.spin_for(0.1)
    motion, violations = sent.motion()
    assert violations == []
    assert motion.speed_at(ended + 0.1) < 1e-3  # a driver left alone would still be on its way
    yield
    assert live_collector.return_code == 0


@pytest.mark.launch(fixture=graph)
def test_both_end_cleanly_when_asked(ears, robot, collector):
    ears.until(lambda: ears.batches)
    yield
    assert (robot.return_code, collector.return_code) == (0, 0)
