"""`ros2 pkg executables`."""

from __future__ import annotations

import argparse

from ros2cli.packages import executables, package_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    parser.add_argument("package_name", nargs="?", help="The package name")
    parser.add_argument("--full-path", action="store_true", help="Show full path of each executable")


def run(args: argparse.Namespace) -> int:
    """Print `package executable` for one package or all."""
    for package in [args.package_name] if args.package_name else package_names():
        for path in executables(package):
            print(path if args.full_path else f"{package} {path.name}")
    return 0
