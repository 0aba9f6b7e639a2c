"""The `ompo` command as a shell runs it."""

import subprocess
import sys
import time
from pathlib import Path

from waiting import PATIENCE

NOBODY_ANSWERS = 3


def ompo(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("ompo")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)


def answered(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Ask again while nobody answers: nodes that only come up, on loaded cores for longer than a shell waits."""
    deadline = time.monotonic() + PATIENCE
    while (result := ompo(*arguments)).returncode == NOBODY_ANSWERS:
        assert time.monotonic() < deadline, result.stderr
    return result
