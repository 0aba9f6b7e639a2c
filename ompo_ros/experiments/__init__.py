"""Runs without ROS, and the records and reports of all runs."""
