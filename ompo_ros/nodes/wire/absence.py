"""Notices that this process did not run for so long that other nodes have forgotten it.

A node that does not announce itself for the lease of its participant is dropped by the others. If it then goes on, it
still takes them for connected, and Fast DDS may never tell them its topics again: they neither hear nor address it.
"""

from __future__ import annotations

import threading
import time
from typing import Final

LEASE: Final = 10.0  # s after which a silent node is forgotten, set in config/fastdds*.xml
_MARGIN: Final = 0.5  # s: its last announcement may be that old when it is stopped
_LOOK: Final = 0.1  # s


class Absence:
    """Measures it in a thread that only sleeps; a long turn of the node, which computes, is no absence."""

    def __init__(self) -> None:
        self.longest = 0.0  # s
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def forgotten(self) -> bool:
        """Whether others may have forgotten this process."""
        return self.longest > LEASE - _MARGIN

    def _watch(self) -> None:
        idle = time.monotonic() - time.process_time()
        while True:
            time.sleep(_LOOK)
            idle, before = time.monotonic() - time.process_time(), idle
            self.longest = max(self.longest, idle - before - _LOOK)
