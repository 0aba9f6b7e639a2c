"""Tests of launched processes: the stand-in for the ROS 2 package `launch_pytest`."""
