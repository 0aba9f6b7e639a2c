"""Removes the shared memory of killed nodes, and of no others."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterable
from pathlib import Path

_FOLDER = Path("/dev/shm")  # noqa: S108 - where DDS keeps its segments
_LOCK = "_el"  # the end of the name of a segment's lock, which its owner keeps open as long as it lives


def locks_of(pid: int) -> set[Path]:
    """The locks of all segments that a process owns."""
    owned = set()
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                owned.add(descriptor.readlink())
    return {path for path in owned if path.parent == _FOLDER and path.name.endswith(_LOCK)}


def remove(locks: Iterable[Path]) -> None:
    """Delete the segments of these locks, unless a living process has taken one over."""
    for lock in locks:
        if _is_abandoned(lock):
            segment = lock.name.removesuffix(_LOCK)
            for name in (segment, f"sem.{segment}_mutex", lock.name):
                (_FOLDER / name).unlink(missing_ok=True)


def _is_abandoned(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
