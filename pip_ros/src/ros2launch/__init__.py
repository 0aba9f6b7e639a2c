"""The `launch` verb of the `ros2` command."""
