"""The protobuf wire format, just far enough to know what a file would cost to parse: up to 85 times its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ompo_ros.policy.errors import NotAPolicy

MAX_PARTS = 64  # fields of any message on the way to the weights; a policy has about 30
_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes, by kind


def bytes_at(message: memoryview, path: Sequence[int]) -> int:
    """How many bytes lie in the fields that a path of field numbers leads to."""
    if not path:
        return len(message)
    return sum(bytes_at(part, path[1:]) for number, part in _parts(message) if number == path[0])


def _parts(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    at = count = 0
    while at < len(message):
        count += 1
        if count > MAX_PARTS:
            raise NotAPolicy(f"the file is no policy: a message in it has more than {MAX_PARTS} fields")
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _BYTES:
            size, at = _varint(message, at)
            yield tag >> 3, message[at : at + size]
            at += size
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise NotAPolicy(f"the file is no ONNX model: it holds a field of kind {kind}")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte, and where it ends."""
    value = 0
    for shift, byte in enumerate(message[at : at + 10]):
        value |= (byte & 127) << 7 * shift
        if byte < 128:
            return value, at + shift + 1
    raise NotAPolicy("the file is no ONNX model: it ends within a number")
