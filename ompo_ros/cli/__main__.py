"""The `ompo` command."""

from __future__ import annotations

import argparse
import sys

from ompo_ros.cli import arm, policy, recording, status


def main() -> None:
    """Parse, run, exit with the verb's code."""
    parser = argparse.ArgumentParser(prog="ompo", description="Work with ompo_ros from a shell.")
    commands = parser.add_subparsers(required=True)
    policy.add_parser(commands)
    arm.add_parsers(commands)
    status.add_parser(commands)
    recording.add_parser(commands)
    sys.exit(policy.run(parser.parse_args()))


if __name__ == "__main__":
    main()
