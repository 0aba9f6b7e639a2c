"""Policies as files: exported to ONNX, proven, versioned on disk, run on a robot; knows neither ROS nor torch."""
