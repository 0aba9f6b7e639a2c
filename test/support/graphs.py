"""Graphs of the package's nodes, in the namespace that launch files use."""

import launch
import launch_pytest
from launch_ros.actions import Node


def node(executable, **parameters) -> Node:
    """One of our nodes, its output kept for the test to look at."""
    return Node(
        package="ompo_ros",
        executable=executable,
        namespace="ompo",
        parameters=[parameters],
        output="screen",
        cached_output=True,
    )


def graph_of(*actions) -> launch.LaunchDescription:
    return launch.LaunchDescription([*actions, launch_pytest.actions.ReadyToTest()])
