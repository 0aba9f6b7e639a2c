"""No process outlives the program that started it, even if that one is killed."""

from __future__ import annotations

import ctypes
import signal
from typing import Final

_PDEATHSIG: Final = 1  # of prctl


def end_with_parent() -> None:
    """Have the kernel end this process when the thread that started it ends."""
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGTERM)
