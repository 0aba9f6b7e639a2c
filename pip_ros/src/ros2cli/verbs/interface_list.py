"""`ros2 interface list`."""

from __future__ import annotations

import argparse

from ros2cli.interface_files import KINDS, interface_packages, interfaces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    parser.add_argument("-m", "--only-msgs", action="store_true", help="Print out only the message types")
    parser.add_argument("-s", "--only-srvs", action="store_true", help="Print out only the service types")
    parser.add_argument("-a", "--only-actions", action="store_true", help="Print out only the action types")


def wanted_kinds(args: argparse.Namespace) -> list[str]:
    """Choose the kinds the options name; all when they name none."""
    chosen = {"msg": args.only_msgs, "srv": args.only_srvs, "action": args.only_actions}
    return [kind for kind in KINDS if chosen[kind] or not any(chosen.values())]


def run(args: argparse.Namespace) -> int:
    """Print all interfaces, grouped by kind."""
    packages = {package: interfaces(package) for package in interface_packages()}
    for kind in wanted_kinds(args):
        print(f"{KINDS[kind]}:")
        for package, names in packages.items():
            for name in names:
                if name.startswith(f"{kind}/"):
                    print(f"    {package}/{name}")
    return 0
