"""Graphs of the package's nodes, in the namespace that launch files use."""

import launch
import launch_pytest
from launch_ros.actions import Node

# s until a node that ends is killed: on loaded cores a clean end takes longer than the 5 s of a launch.
PATIENT = {"sigterm_timeout": "60", "sigkill_timeout": "60"}


def node(executable, **parameters) -> Node:
    """One of our nodes, its output kept for the test to look at."""
    return Node(
        package="ompo_ros",
        executable=executable,
        namespace="ompo",
        parameters=[parameters],
        output="screen",
        cached_output=True,
        **PATIENT,
    )


def graph_of(*actions) -> launch.LaunchDescription:
    return launch.LaunchDescription([*actions, launch_pytest.actions.ReadyToTest()])
