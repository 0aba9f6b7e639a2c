"""Tests of launched processes: the stand-in for the ROS 2 package `launch_pytest`."""

from . import actions, tools
from .launch_fixture import fixture

__all__ = ["actions", "fixture", "tools"]
