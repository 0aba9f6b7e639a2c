"""`ros2 run`: becomes the executable, so that signals and the exit code need no forwarding."""

import argparse
import os

from ros2cli.errors import CommandError
from ros2cli.packages import executables_of


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package_name", help="Name of the ROS package")
    parser.add_argument("executable_name", help="Name of the executable")
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="Pass arbitrary arguments to the executable")


def run(args: argparse.Namespace) -> int:
    """Run a package specific executable."""
    available = {path.name: path for path in executables_of(args.package_name)}
    if args.executable_name not in available:
        listing = "".join(f"\n- {name}" for name in available) or " none"
        raise CommandError(f"No executable found: '{args.executable_name}'. '{args.package_name}' has:{listing}")
    path = available[args.executable_name]
    os.execv(path, [str(path), *args.argv])  # noqa: S606 - no shell is wanted


VERBS = {"": (_arguments, run)}
