"""The run manager beside a real collector: it gets its evaluation also when somebody else's goes first."""

import launch_pytest
import pytest
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import LearnerStatus, PolicyArtifact
from probe import Probe
from rclpy.action import ActionClient
from shipped_policy import shipped_policy

from ompo_ros.conversions import artifact_to_msg
from ompo_ros.nodes import qos


@pytest.fixture
def manager(tmp_path):
    return node("run_manager", run_dir=str(tmp_path), episodes_before=0, episodes_after=2)


@launch_pytest.fixture
def graph(ros_domain, manager):
    robot = node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=0.0)
    return graph_of(robot, node("target_collector", lockstep=True, enabled=False), manager)


@pytest.fixture
def learner(ros_domain):
    learner = Probe(namespace="ompo")
    yield learner
    learner.close()


@pytest.mark.launch(fixture=graph)
def test_an_evaluation_that_is_refused_is_asked_for_again(learner, manager, launch_context, tmp_path):
    policies = learner.node.create_publisher(PolicyArtifact, "policy/latest", qos.LATCHED)
    statuses = learner.node.create_publisher(LearnerStatus, "status", qos.LATCHED)
    policies.publish(artifact_to_msg(shipped_policy(3).onnx, version=3))
    status = LearnerStatus(state=LearnerStatus.TRAINING, policy_version=3)
    statuses.publish(status)
    assert process_tools.wait_for_stderr_sync(
        launch_context, manager, lambda text: "not evaluated, there is" in text, timeout=30
    )

    gate = ActionClient(learner.node, Evaluate, "target_collector/evaluate")
    learner.spin_until(gate.server_is_ready)
    answer = gate.send_goal_async(Evaluate.Goal(episodes=40))
    learner.spin_until(answer.done)
    assert answer.result().accepted
    status.state = LearnerStatus.FINISHED
    statuses.publish(status)
    assert process_tools.wait_for_stderr_sync(
        launch_context, manager, lambda text: "evaluation came to nothing" in text, timeout=20
    )
    learner.spin_until(answer.result().get_result_async().done, 60.0)
    assert process_tools.wait_for_exit_sync(launch_context, manager, timeout=30)
    assert manager.return_code == 0
    assert "| after | 100% of 2 episodes" in (tmp_path / "report.md").read_text()
