"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO


class InUse(OSError):
    """What another process holds at the moment."""


def lock(path: Path) -> IO[bytes]:
    """Hold a lock file until it is closed or the process ends, however it ends; raises InUse if it is held."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise InUse(f"{path.parent} is in use by another process") from error
    return file


def write_whole(path: Path, content: bytes) -> None:
    """Replace `path` in one step, after its content is safely on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)  # a full disk has no room for halves
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
