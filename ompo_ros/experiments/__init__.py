"""Measurements without ROS: networks are pretrained, adaptation is rehearsed, methods are compared."""
