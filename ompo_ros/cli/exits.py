"""How a verb ends: its exit code, and what it says of a problem. Wrong usage is argparse's own 2."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from ompo_ros.policy.errors import RefusedPolicy, RegistryError
from ompo_ros.policy.records import plain

DONE: Final = 0
REFUSED: Final = 1
NO_SERVER: Final = 3


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen verb; what is refused becomes a sentence and an exit code."""
    try:
        code: int = arguments.run(arguments)
    except (RefusedPolicy, RegistryError, OSError) as error:
        warn(str(error))
        return NO_SERVER if isinstance(error, ConnectionError) else REFUSED
    return code


def warn(text: str) -> None:
    """Say a sentence beside the verb's output, without what could control the terminal."""
    print(f"ompo: {plain(text)}", file=sys.stderr)
