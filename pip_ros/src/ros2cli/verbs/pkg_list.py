"""`ros2 pkg list`."""

from __future__ import annotations

import argparse

from ros2cli.packages import package_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing to choose."""


def run(args: argparse.Namespace) -> int:
    """Print the names, sorted."""
    for name in package_names():
        print(name)
    return 0
