"""The package's nodes made in the test's own process, for what they refuse before they begin."""

import rclpy
from rclpy.node import Node

from ompo_ros.nodes.fci_driver import FciDriver
from ompo_ros.nodes.franka_sim import FrankaSim
from ompo_ros.nodes.identifier import Identifier
from ompo_ros.nodes.learner import Learner
from ompo_ros.nodes.monitor import Monitor
from ompo_ros.nodes.policy_controller import PolicyController
from ompo_ros.nodes.policy_server import PolicyServer
from ompo_ros.nodes.recorder import Recorder
from ompo_ros.nodes.robot_sim import RobotSim
from ompo_ros.nodes.run_manager import RunManager
from ompo_ros.nodes.source_collector import SourceCollector
from ompo_ros.nodes.target_collector import TargetCollector
from ompo_ros.nodes.transition_monitor import TransitionMonitor
from ompo_ros.nodes.wire.only_one import default_name

KINDS = {
    default_name(kind.__name__): kind
    for kind in (
        FciDriver,
        FrankaSim,
        Identifier,
        Learner,
        Monitor,
        PolicyController,
        PolicyServer,
        Recorder,
        RobotSim,
        RunManager,
        SourceCollector,
        TargetCollector,
        TransitionMonitor,
    )
}


NEED_A_ROBOT = {"fci_driver", "franka_sim"}  # or start one


def make_node(name: str, **given) -> Node:
    """Make a node by its name, with parameters as a user gives them."""
    arguments = [word for key, value in given.items() for word in ("-p", f"{key}:={value}")]
    rclpy.init(args=["--ros-args", *arguments] if arguments else None)
    return KINDS[name]()
