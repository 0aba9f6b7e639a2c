"""Launch ROS 2 nodes: the stand-in for the ROS 2 package `launch_ros`."""

from . import actions, descriptions, parameter_descriptions, substitutions

__all__ = ["actions", "descriptions", "parameter_descriptions", "substitutions"]
