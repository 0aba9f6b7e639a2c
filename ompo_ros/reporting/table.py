"""A CSV file that grows row by row; rows survive a crash, a power loss and a full disk."""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, Generic, TypeVar

from ompo_ros.reporting.record import Episode, Sample

Row = TypeVar("Row", Sample, Episode)
UNSAVED = 10_000  # rows that wait for space on the disk; older ones are dropped


class Table(Generic[Row]):
    """Rows of int and float; the file is created when the first row is added."""

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self._path = path
        self._kind: type[Row] = kind
        self._columns = dataclasses.fields(kind)
        self._unsaved: deque[bytes] = deque(maxlen=UNSAVED)

    def __iter__(self) -> Iterator[Row]:
        """Read row by row; an incomplete or damaged row is skipped."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            next(file, None)
            for line in file:
                row = self._parsed(line)
                if row is not None:
                    yield row

    def append(self, row: Row) -> None:
        """Write a row to the disk; if that fails, keep it and write it with the next one."""
        self._unsaved.append(_line(dataclasses.astuple(row)))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        with FileIO(descriptor, "r+") as file:
            end = _end_of_last_line(file)
            header = b"" if end else _line(tuple(column.name for column in self._columns))
            try:
                _write(file, end, header + b"".join(self._unsaved))
            except OSError:
                file.truncate(end)
                raise
        self._unsaved.clear()

    def _parsed(self, line: bytes) -> Row | None:
        texts = line.decode(errors="replace").split(",")
        if not line.endswith(b"\n") or len(texts) != len(self._columns):
            return None
        pairs = zip(self._columns, texts, strict=True)
        try:
            numbers: list[Any] = [int(text) if column.type == "int" else float(text) for column, text in pairs]
        except ValueError:
            return None
        return self._kind(*numbers)


def _line(values: tuple[Any, ...]) -> bytes:
    return (",".join(str(value) for value in values) + "\n").encode()


def _end_of_last_line(file: FileIO) -> int:
    """The position of the next row; an incomplete last line is overwritten."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return 0
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return size
    file.seek(0)
    return file.readall().rfind(b"\n") + 1


def _write(file: FileIO, start: int, content: bytes) -> None:
    file.truncate(start)
    file.seek(start)
    while content:  # an unbuffered file may take a part only
        content = content[file.write(content) :]
    os.fsync(file.fileno())
