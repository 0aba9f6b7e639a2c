"""Writes messages to MCAP files: a chunk at each flush, split by size, with a margin of free disk.

After a kill the file ends within its last chunk; the chunks before it stay readable. No ROS is needed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from mcap.writer import Writer

from ompo_ros.recording.definitions import definition

FORMAT: Final = "1"
ABOUT: Final = "ompo"  # name of the metadata at the beginning of each file
COMMAND_TOPIC: Final = "command_topic"  # entry of that metadata
POLICY: Final = "policy"  # name of the metadata of a policy
_CHUNK: Final = 1 << 20  # bytes; a chunk is also written when it is larger
_NAME: Final = re.compile(r"recording-(\d+)\.mcap")


@dataclass(frozen=True)
class SizeLimits:
    """All in bytes."""

    split: int = 256 * 10**6  # of a file, then the next one begins
    total: int = 10**10  # of all files of a folder, then the oldest is deleted
    keep_free: int = 2 * 10**9  # left free on the disk


class RecordingWriter:
    """Files `recording-NNNN.mcap` of one folder. Errors of the disk are reported, not raised."""

    def __init__(
        self, folder: Path, about: Mapping[str, str], limits: SizeLimits, warn: Callable[[str], object]
    ) -> None:
        self._folder, self._about, self._limits, self._warn = folder, {"format": FORMAT, **about}, limits, warn
        self._file: _File | None = None
        self._problem = ""
        self.written = 0  # messages
        self.dropped = 0  # messages received while nothing could be written
        self.flush()

    @property
    def path(self) -> Path | None:
        """The file that is written to now."""
        return self._file.path if self._file else None

    def write(self, topic: str, kind: str, data: bytes, received: int, sent: int) -> None:
        """Add a serialized message; times in ns."""
        with self._disk_may_fail():
            if self._file is not None:
                self._file.write(topic, kind, data, received, sent)
                self.written += 1
                return
        self.dropped += 1

    def note_policy(self, manifest: Mapping[str, str]) -> None:
        """Add the manifest of a policy."""
        with self._disk_may_fail():
            if self._file is not None:
                self._file.note(POLICY, manifest)

    def flush(self) -> None:
        """Sync the file, check the free disk, begin the next file if it is due; call it about once a second."""
        with self._disk_may_fail():
            if self._file is not None:
                self._file.flush()
            self._folder.mkdir(parents=True, exist_ok=True)
            if lack := self._lack_of_room():
                self._finish()
                self._report(lack)
                return
            if self._file is not None and self._file.size >= self._limits.split:
                self._finish()
            if self._file is None:
                self._drop_oldest()
                self._file = _File(self._next_path(), self._about)
                self._problem = ""

    def close(self) -> None:
        """Finish the file with its index."""
        with self._disk_may_fail():
            self._finish()

    @contextlib.contextmanager
    def _disk_may_fail(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._report(f"nothing is recorded, {self._folder} cannot be written: {error}")
            if self._file is not None:
                self._file.abandon()
                self._file = None

    def _lack_of_room(self) -> str:
        free, wanted = shutil.disk_usage(self._folder).free, self._limits.keep_free
        if free >= wanted:
            return ""
        return (
            f"nothing is recorded, {self._folder} has {free / 1e6:.0f} MB left and {wanted / 1e6:.0f} MB stay free: "
            "make room, or lower keep_free"
        )

    def _report(self, problem: str) -> None:
        """Warn when a problem begins, not each second."""
        if not self._problem:
            self._warn(problem)
        self._problem = problem

    def _finish(self) -> None:
        if self._file is not None:
            self._file.finish()
            self._file = None

    def _drop_oldest(self) -> None:
        """Delete the oldest files until another one fits into the total."""
        files = files_in(self._folder)
        sizes = [path.stat().st_size for path in files]
        while files and sum(sizes) + self._limits.split > self._limits.total:
            self._warn(f"{files[0]} is deleted: the recordings of a run take {self._limits.total / 1e6:.0f} MB at most")
            files.pop(0).unlink()
            sizes.pop(0)

    def _next_path(self) -> Path:
        numbers = [int(_NAME.fullmatch(path.name)[1]) for path in files_in(self._folder)]  # type: ignore[index]
        return self._folder / f"recording-{max(numbers, default=-1) + 1:04d}.mcap"


def files_in(folder: Path) -> list[Path]:
    """The recordings of a folder, oldest first."""
    return sorted(path for path in folder.glob("recording-*.mcap") if _NAME.fullmatch(path.name))


class _File:
    """One file; after a failed write it is cut back to its last whole chunk."""

    def __init__(self, path: Path, about: Mapping[str, str]) -> None:
        self.path = path
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self.size = self._whole = 0
        self._channels: dict[str, int] = {}
        self._mcap = Writer(cast(Any, _Stream(self)), chunk_size=_CHUNK)
        try:
            self._mcap.start(profile="ros2", library="ompo_ros")
            self.note(ABOUT, about)
            self.flush()
        except OSError:
            self.abandon()
            path.unlink()  # or an empty file would be left each second
            raise

    def append(self, data: bytes) -> None:
        """Write all bytes."""
        left = memoryview(data)
        while left:
            done = os.write(self._handle, left)
            left, self.size = left[done:], self.size + done

    def write(self, topic: str, kind: str, data: bytes, received: int, sent: int) -> None:
        channel = self._channels.get(topic)
        if channel is None:
            schema = self._mcap.register_schema(kind, "ros2msg", definition(kind).encode())
            channel = self._channels[topic] = self._mcap.register_channel(topic, "cdr", schema)
        self._mcap.add_message(channel, received, data, sent)

    def note(self, name: str, values: Mapping[str, str]) -> None:
        self._mcap.add_metadata(name, dict(values))

    def flush(self) -> None:
        self._mcap.flush()
        os.fdatasync(self._handle)
        self._whole = self.size

    def finish(self) -> None:
        self._mcap.finish()
        os.fdatasync(self._handle)
        os.close(self._handle)

    def abandon(self) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, self._whole)
            os.close(self._handle)


class _Stream:
    """The stream of mcap's writer; unbuffered, since a buffer would repeat a failed write when it is closed."""

    def __init__(self, file: _File) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        self._file.append(data)
        return len(data)

    def tell(self) -> int:
        return self._file.size

    def flush(self) -> None:
        """There is no buffer."""
