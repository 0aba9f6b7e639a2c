"""`ros2 run`: becomes the executable, so that signals and the exit code need no forwarding."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import NoReturn

from ros2cli.errors import CommandError
from ros2cli.packages import executables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine command."""
    parser.add_argument(
        "--prefix",
        default="",
        help="Command that goes before the executable, quoted if it has spaces (e.g. --prefix 'gdb -ex run --args')",
    )
    parser.add_argument("package_name", help="Name of the ROS package")
    parser.add_argument("executable_name", help="Name of the executable")
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="Pass arbitrary arguments to the executable")


def find_executable(package: str, name: str) -> Path:
    """Find the one executable of that name in the package."""
    available = executables(package)
    matches = [path for path in available if path.name == name]
    if len(matches) > 1:
        raise CommandError("Multiple executables found:" + "".join(f"\n- {path}" for path in matches))
    if not matches:
        listing = "".join(f"\n- {path.name}" for path in available) or " none"
        raise CommandError(f"No executable found: package '{package}' has no '{name}'. It has:{listing}")
    return matches[0]


def run(args: argparse.Namespace) -> NoReturn:
    """Replace this process by the executable."""
    path = find_executable(args.package_name, args.executable_name)
    command = [*shlex.split(args.prefix), str(path), *args.argv]
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise CommandError(f"Cannot run {shlex.join(command)}: {error.strerror}") from None
