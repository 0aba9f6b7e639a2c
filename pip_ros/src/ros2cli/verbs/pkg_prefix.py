"""`ros2 pkg prefix`."""

from __future__ import annotations

import argparse

from ros2cli.packages import package_prefix


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    parser.add_argument("package_name", help="The package name")
    parser.add_argument("--share", action="store_true", help="Show share directory for the package")


def run(args: argparse.Namespace) -> int:
    """Print the prefix, or the share folder under it."""
    prefix = package_prefix(args.package_name)
    print(prefix / "share" / args.package_name if args.share else prefix)
    return 0
