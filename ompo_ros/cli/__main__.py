"""The `ompo` command."""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from ompo_ros.cli import arm, policy, recording, status
from ompo_ros.cli.exits import run
from ompo_ros.spelling import meant

_CHOICE = re.compile(r"argument (.*): invalid choice: '(.*)' \(choose from (.*)\)")


class _Parser(argparse.ArgumentParser):
    """Names the nearest choice instead of all of them; its verbs are parsed by the same class."""

    def error(self, message: str) -> NoReturn:
        if wrong := _CHOICE.fullmatch(message):
            known = re.findall(r"[\w-]+", wrong[3])
            message = f"{wrong[2]!r} is not possible; {meant(wrong[2], known)}"
        super().error(message)


def main() -> None:
    """Parse, run, exit with the verb's code."""
    parser: argparse.ArgumentParser = _Parser(prog="ompo", description="Work with ompo_ros from a shell.")
    commands = parser.add_subparsers(required=True)
    policy.add_parser(commands)
    arm.add_parsers(commands)
    status.add_parser(commands)
    recording.add_parser(commands)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
