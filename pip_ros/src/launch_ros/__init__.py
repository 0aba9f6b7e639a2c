"""Launch ROS 2 nodes: the stand-in for the ROS 2 package `launch_ros`."""

from . import actions, substitutions

__all__ = ["actions", "substitutions"]
