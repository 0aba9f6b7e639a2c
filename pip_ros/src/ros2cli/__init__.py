"""The `ros2` command, for environments where the genuine ros2cli is not installed."""
