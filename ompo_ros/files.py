"""Files that are written whole or not at all, and read only if they are files of a known greatest size."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import IO


class InUse(OSError):
    """Another process holds the lock."""


def lock(path: Path) -> IO[bytes]:
    """Lock a file until it is closed or the process ends in any way; raises InUse if another process holds it."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise InUse(f"{path.parent} is in use by another process") from error
    return file


class UnfitFile(ValueError):
    """A path names a folder, a pipe or a device, or a file that is too large to be the one meant."""


def write_whole(path: Path, content: bytes) -> None:
    """Replace `path` in one step, once its content is on the disk; a failure leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_bounded(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes; anything else raises UnfitFile before it blocks or fills memory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnfitFile(f"{path} is not a regular file")
        if status.st_size > limit:
            raise UnfitFile(f"{path} has {status.st_size} bytes, {limit} at most are read")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(descriptor)
