"""The target collector with other robots, tasks, drivers and limits, in lockstep over DDS."""

import itertools

import launch_pytest
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from collector_peer import CONTRACT, ROBOT, Ears, Evaluator, make_artifact, robot_sim
from diagnostic_msgs.msg import DiagnosticStatus
from echo_arm import EchoArm
from geometry_msgs.msg import Point, PointStamped
from graphs import graph_of, node
from ompo_msgs.msg import EpisodeSummary, LearnerStatus, TransitionBatch
from ompo_msgs.srv import GetPolicy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_from_msg
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import EPISODE_STEPS, Task
from ompo_ros.task.teacher import push_actions
from ompo_ros.transitions import Origin


def collector(**parameters):
    return node("target_collector", enabled=True, lockstep=True, cube_rest_time=0.0, **parameters)  # as in a launch


@launch_pytest.fixture
def fr3_graph(ros_domain):
    return graph_of(robot_sim(robot="fr3"), collector())


@launch_pytest.fixture
def all_fr3_graph(ros_domain):
    return graph_of(robot_sim(robot="fr3"), collector(robot="fr3"))


@launch_pytest.fixture
def limited_graph(ros_domain):
    return graph_of(robot_sim(), collector(target_steps=100))


@launch_pytest.fixture
def push_graph(ros_domain):
    options = {"task": "push", "driver": "multipanda_ros2"}
    return graph_of(robot_sim(**options), collector(reward="sparse", **options))


@launch_pytest.fixture
def scripted_graph(ros_domain):
    return graph_of(robot_sim(task="push"), collector(task="push", scripted_episodes=2))


@launch_pytest.fixture
def lone_push_graph(ros_domain):
    return graph_of(node("target_collector", enabled=True, task="push"))


@launch_pytest.fixture
def lone_graph(ros_domain):
    return graph_of(collector())


@pytest.fixture
def ears(probe):
    return Ears(probe)


@pytest.mark.launch(fixture=fr3_graph)
def test_the_wrong_robot_is_refused_with_a_sentence_and_never_commanded(ears):
    ears.until(lambda: "fr3_joint1" in ears.message)
    assert "the robot preset expects panda_joint1" in ears.message
    assert "check the parameter `robot`" in ears.message
    assert not ears.commands


@pytest.mark.launch(fixture=all_fr3_graph)
def test_an_fr3_runs_policies_made_for_it(ears):
    ears.wait_for_batches_of(ears.publish_policy(Task("reach", "dense").on(load_robot("fr3"))))


@pytest.mark.launch(fixture=lone_graph)
def test_a_silent_robot_costs_its_episode_and_nothing_more(ears):
    arm = EchoArm(ears.probe, ROBOT, lockstep=True)

    def plays(batches):
        def played():
            arm.speak()
            return len(ears.batches) >= batches

        return played

    ears.until(plays(1))
    ears.until(lambda: "no joint state" in ears.message)
    assert ears.reports[-1].status[0].level == DiagnosticStatus.WARN
    ears.until(plays(len(ears.batches) + 2))
    assert all(batch.count == EPISODE_STEPS for batch in ears.batches)
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

    answers = (found() for _ in range(20))  # at first the collector may not have discovered the server
    result = next(result for result in answers if "does not answer" not in result.message)
    assert [episode.policy_version for episode in result.episodes] == [8, 8]
    missing = evaluator.result(evaluator.send(episodes=2, policy_version=9)).result
    assert "no such version" in missing.message
    assert sum(batch.count for batch in ears.batches) <= 100


@pytest.mark.launch(fixture=push_graph)
def test_push_over_trajectory_messages(ears):
    ears.publish_policy(Task("push", "sparse").contract)
    ears.until(lambda: len(ears.batches) >= 2)
    transitions = transitions_from_msg(ears.batches[-1])
    assert transitions.obs_dim == Task("push", "sparse").contract.observation_size
    assert set(np.unique(transitions.reward)) <= {-1.0, 0.0}


@pytest.mark.launch(fixture=scripted_graph)
def test_the_script_demonstrates_what_the_learner_still_lacks_and_then_the_policy_explores(ears):
    shown = ears.probe.listen(TransitionBatch, "/ompo/demonstration/transitions", qos.TRANSITIONS)
    status = ears.probe.node.create_publisher(LearnerStatus, "/ompo/status", qos.LATCHED)
    status.publish(LearnerStatus(demonstration_steps=100))  # of an earlier start of the run
    ears.until(lambda: status.get_subscription_count() > 0)
    version = ears.publish_policy(Task("push", "dense").contract)

    def explores():
        status.publish(LearnerStatus(demonstration_steps=100 + sum(batch.count for batch in shown)))
        return ears.batches

    ears.until(explores)
    (batch,) = shown
    demonstrated = transitions_from_msg(batch)
    assert (demonstrated.origin, len(demonstrated)) == (Origin.DEMONSTRATION, 100)
    np.testing.assert_array_equal(demonstrated.action, push_actions(demonstrated.obs))
    assert set(transitions_from_msg(ears.batches[0]).policy_version) == {version}
    whole = [outcome for outcome in ears.outcomes() if outcome != EpisodeSummary.DROPPED]
    assert len(whole) <= 1  # the explored one; a script's success says nothing of a policy


@pytest.mark.launch(fixture=lone_push_graph)
def test_a_cube_in_another_frame_or_of_long_ago_is_no_cube(ears):
    ears.publish_policy(Task("push", "dense").contract)
    cubes = ears.probe.node.create_publisher(PointStamped, "/ompo/cube", qos_profile_sensor_data)
    still = JointState(name=ROBOT.joint_names, position=ROBOT.home.tolist(), velocity=[0.0] * 7)
    clock = itertools.count(7)  # a tracker's own, far from ours
    none, seen = "`/ompo/cube` brings no new one", "somebody may hold the cube"

    def until(condition, frame=CONTRACT.frame, stamps=clock, x=0.6):
        def publish():
            if frame:
                header = Header(frame_id=frame, stamp=Time(sec=next(stamps)))
                cubes.publish(PointStamped(header=header, point=Point(x=x, z=0.02)))
            ears.states.publish(still)
            return condition()

        ears.until(publish)

    def until_told(words, **cube):
        until(lambda: words in ears.message, **cube)

    until_told(none, frame="camera")
    until_told(seen)
    until_told(none, frame="")
    until_told(seen, stamps=itertools.repeat(0))  # a tracker without a clock
    until_told(none, x=float("nan"))
    until_told(seen)
    until_told(none, x=600.0)
    until_told(seen)
    until_told(none, stamps=itertools.repeat(next(clock)))  # a frozen one
    until_told(seen, stamps=itertools.count(1))  # one that was started anew
    until_told(none, stamps=itertools.repeat(1))
    assert not ears.commands
    until(lambda: ears.commands)
    until_told(none, frame="")
