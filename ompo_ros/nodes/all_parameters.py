"""The declared parameters of every node by its name, for those who look at all of them."""

from __future__ import annotations

from typing import Final

from ompo_ros.nodes.learner_parameters import LearnerParameters
from ompo_ros.nodes.parameters import (
    FciDriverParameters,
    FrankaSimParameters,
    IdentifierParameters,
    MonitorParameters,
    PolicyControllerParameters,
    PolicyServerParameters,
    RecorderParameters,
    RobotSimParameters,
    RunManagerParameters,
    SourceCollectorParameters,
    TargetCollectorParameters,
    TransitionMonitorParameters,
)

NODES: Final[dict[str, type]] = {
    "learner": LearnerParameters,
    "policy_server": PolicyServerParameters,
    "identifier": IdentifierParameters,
    "source_collector": SourceCollectorParameters,
    "target_collector": TargetCollectorParameters,
    "run_manager": RunManagerParameters,
    "policy_controller": PolicyControllerParameters,
    "robot_sim": RobotSimParameters,
    "fci_driver": FciDriverParameters,
    "franka_sim": FrankaSimParameters,
    "recorder": RecorderParameters,
    "monitor": MonitorParameters,
    "transition_monitor": TransitionMonitorParameters,
}
