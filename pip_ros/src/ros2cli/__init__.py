"""The `ros2` command, as far as this project needs it."""
