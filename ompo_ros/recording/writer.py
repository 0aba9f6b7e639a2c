"""Writes a run's messages into MCAP files: a chunk each second, a new file when one is large, never the last of a disk.

A file that is killed ends within its last chunk; whole chunks before it stay readable. Nothing here knows ROS.
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
ABOUT: Final = "ompo"  # name of the metadata that every file begins with
POLICY: Final = "policy"  # name of a policy's metadata
_CHUNK: Final = 1 << 20  # bytes, where a second brings more
_NAME: Final = re.compile(r"recording-(\d+)\.mcap")


@dataclass(frozen=True)
class SizeLimits:
    """All in bytes."""

    split: int = 256 * 10**6  # of a file, after which the next one begins
    total: int = 10**10  # of all files of a folder; then the oldest goes
    keep_free: int = 2 * 10**9  # that stay free on the disk


class RecordingWriter:
    """Files `recording-NNNN.mcap` of one folder. A disk that takes nothing is reported, not raised."""

    def __init__(
        self, folder: Path, about: Mapping[str, str], limits: SizeLimits, warn: Callable[[str], object]
    ) -> None:
        self._folder, self._about, self._limits, self._warn = folder, {"format": FORMAT, **about}, limits, warn
        self._file: _File | None = None
        self._problem = ""
        self.written = 0  # messages
        self.dropped = 0  # messages that came while there was no room
        self.flush()

    @property
    def path(self) -> Path | None:
        """The file that is written to now."""
        return self._file.path if self._file else None

    def write(self, topic: str, kind: str, data: bytes, received: int, sent: int) -> None:
        """Take one message, serialized; times in ns."""
        with self._disk_may_fail():
            if self._file is not None:
                self._file.write(topic, kind, data, received, sent)
                self.written += 1
                return
        self.dropped += 1

    def note_policy(self, manifest: Mapping[str, str]) -> None:
        """Keep what a policy says about itself."""
        with self._disk_may_fail():
            if self._file is not None:
                self._file.note(POLICY, manifest)

    def flush(self) -> None:
        """Bring what came so far to the disk, look at its room, begin the next file where one is due; once a second."""
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
        """Say it when it begins, not each second."""
        if not self._problem:
            self._warn(problem)
        self._problem = problem

    def _finish(self) -> None:
        if self._file is not None:
            self._file.finish()
            self._file = None

    def _drop_oldest(self) -> None:
        """Leave room for another file in what all may take."""
        files = files_in(self._folder)
        sizes = [path.stat().st_size for path in files]
        while files and sum(sizes) + self._limits.split > self._limits.total:
            self._warn(f"{files[0]} is dropped: the recordings of a run take {self._limits.total / 1e6:.0f} MB at most")
            files.pop(0).unlink()
            sizes.pop(0)

    def _next_path(self) -> Path:
        numbers = [int(_NAME.fullmatch(path.name)[1]) for path in files_in(self._folder)]  # type: ignore[index]
        return self._folder / f"recording-{max(numbers, default=-1) + 1:04d}.mcap"


def files_in(folder: Path) -> list[Path]:
    """The recordings of a folder, oldest first."""
    return sorted(path for path in folder.glob("recording-*.mcap") if _NAME.fullmatch(path.name))


class _File:
    """One file. What a failed write left of a chunk is taken back, so that the file ends with a whole one."""

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
            path.unlink()  # it holds nothing, and another one would come each second
            raise

    def append(self, data: bytes) -> None:
        """Write all of it."""
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
    """What mcap's writer needs of a stream; unbuffered, or a failed write would be tried again when all is over."""

    def __init__(self, file: _File) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        self._file.append(data)
        return len(data)

    def tell(self) -> int:
        return self._file.size

    def flush(self) -> None:
        """Nothing is held back."""
