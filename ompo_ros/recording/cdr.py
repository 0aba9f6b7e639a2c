"""Reads and writes serialized ROS 2 messages (CDR, little endian) without ROS."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

HEADER: Final = b"\0\1\0\0"  # plain CDR, little endian; alignment counts from behind it


class BrokenMessage(ValueError):
    """Bytes that are not a message of the expected type."""


class CdrReader:
    """Reads a message field by field; BrokenMessage where it is too short."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != HEADER:
            raise BrokenMessage(f"begins with {data[:4].hex()}, only little-endian CDR is read")
        self._data, self._place = data, len(HEADER)

    def number(self, form: str) -> int:
        """An integer, by its letter in struct."""
        return int(self._scalar(form))

    def real(self) -> float:
        """A float64."""
        return float(self._scalar("d"))

    def _scalar(self, form: str) -> Any:  # noqa: ANN401 - as struct gives it
        size = struct.calcsize(form)
        start = self._aligned(size)
        self._place = start + size
        try:
            return struct.unpack_from(f"<{form}", self._data, start)[0]
        except struct.error as error:
            raise BrokenMessage("it is too short") from error

    def stamp(self) -> int:
        """A builtin_interfaces/Time, in nanoseconds."""
        return self.number("i") * 10**9 + self.number("I")

    def text(self) -> str:
        length = self.number("I")
        start, self._place = self._place, self._place + length
        if self._place > len(self._data):
            raise BrokenMessage("it is too short")
        return self._data[start : self._place].rstrip(b"\0").decode(errors="replace")

    def texts(self) -> list[str]:
        count = self.number("I")
        if count > len(self._data):
            raise BrokenMessage("it is too short")
        return [self.text() for _ in range(count)]

    def array(self, dtype: DTypeLike) -> NDArray[Any]:
        """A sequence of numbers, as a view of the message."""
        kind = np.dtype(dtype)
        count = self.number("I")
        if count == 0:
            return np.empty(0, kind)
        start = self._aligned(kind.itemsize)
        self._place = start + count * kind.itemsize
        if self._place > len(self._data):
            raise BrokenMessage("it is too short")
        return np.frombuffer(self._data, kind, count, start)

    def _aligned(self, size: int) -> int:
        return self._place + (len(HEADER) - self._place) % size


class CdrWriter:
    """Writes a message field by field."""

    def __init__(self) -> None:
        self._data = bytearray(HEADER)

    def number(self, form: str, value: int) -> None:
        """An integer, by its letter in struct."""
        self._align(struct.calcsize(form))
        self._data += struct.pack(f"<{form}", value)

    def stamp(self, nanoseconds: int) -> None:
        self.number("i", nanoseconds // 10**9)
        self.number("I", nanoseconds % 10**9)

    def text(self, value: str) -> None:
        encoded = value.encode() + b"\0"
        self.number("I", len(encoded))
        self._data += encoded

    def array(self, values: NDArray[Any]) -> None:
        """All values of an array, row by row."""
        self.number("I", values.size)
        if values.size:
            self._align(values.itemsize)
            self._data += np.ascontiguousarray(values).tobytes()

    def finished(self) -> bytes:
        return bytes(self._data)

    def _align(self, size: int) -> None:
        self._data += bytes((len(HEADER) - len(self._data)) % size)
