"""What a node tells the launch that started it, by standard output and exit code; all else goes to its log."""

from __future__ import annotations

import os
import sys
from typing import Final

OVER: Final = "run over"  # the node ends because its run has ended
PROGRESS: Final = "progress: "  # begins a line that shows how the run goes
REFUSED: Final = 2  # exit code of a node that cannot work; its last fatal line says why
_DRAWN: Final = "OMPO_DRAWN_PROGRESS"  # environment variable, set where the launch draws progress on a terminal
DRAWS: Final = {_DRAWN: "1"}


def say(line: str) -> None:
    """Write a line to the launch."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def is_drawn() -> bool:
    """Whether the launch draws lines of progress."""
    return _DRAWN in os.environ
