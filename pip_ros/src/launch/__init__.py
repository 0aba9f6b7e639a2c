"""Describe a system of processes and bring it up: the stand-in for the ROS 2 package `launch`."""
