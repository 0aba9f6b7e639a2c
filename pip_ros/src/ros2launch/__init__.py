"""The `launch` verb of the `ros2` command."""

from .verb import add_arguments, run

__all__ = ["add_arguments", "run"]
