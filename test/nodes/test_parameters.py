"""What `ros2 param describe` says of every node's parameters: a sentence, and for a number what it may be."""

import pytest
import rclpy
from rclpy.parameter import Parameter

from ompo_ros.nodes.learner import Learner
from ompo_ros.nodes.policy_controller import PolicyController
from ompo_ros.nodes.policy_server import PolicyServer
from ompo_ros.nodes.robot_sim import RobotSim
from ompo_ros.nodes.run_manager import RunManager
from ompo_ros.nodes.source_collector import SourceCollector
from ompo_ros.nodes.target_collector import TargetCollector
from ompo_ros.nodes.transition_monitor import TransitionMonitor

NODES = (
    Learner,
    PolicyController,
    PolicyServer,
    RobotSim,
    RunManager,
    SourceCollector,
    TargetCollector,
    TransitionMonitor,
)
NUMBERS = {Parameter.Type.INTEGER.value, Parameter.Type.DOUBLE.value}
RCLPYS_OWN = {"use_sim_time", "start_type_description_service"}


@pytest.mark.parametrize("kind", NODES)
def test_every_parameter_has_a_sentence_and_every_number_a_range(kind, tmp_path, monkeypatch, ros_domain):
    monkeypatch.chdir(tmp_path)
    rclpy.init(args=["--ros-args", "-p", f"registry_dir:={tmp_path}"] if kind is PolicyServer else None)
    node = kind()
    try:
        names = [name for name in node._parameters if name not in RCLPYS_OWN]
        assert names or kind is TransitionMonitor
        for described in node.describe_parameters(names):
            assert described.description.endswith(".") or described.name.startswith("learning."), described.name
            assert described.description
            if described.type in NUMBERS:
                assert [*described.integer_range, *described.floating_point_range], f"{described.name} has no range"
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
