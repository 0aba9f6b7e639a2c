"""`ros2 interface package`."""

from __future__ import annotations

import argparse

from ros2cli.interface_files import interfaces
from ros2cli.verbs import interface_list


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    interface_list.add_arguments(parser)
    parser.add_argument("package_name", help="Name of the ROS package (e.g. 'std_msgs')")


def run(args: argparse.Namespace) -> int:
    """Print the package's interfaces."""
    kinds = interface_list.wanted_kinds(args)
    for name in interfaces(args.package_name):
        if name.split("/")[0] in kinds:
            print(f"{args.package_name}/{name}")
    return 0
