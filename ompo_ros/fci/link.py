"""The loop's end of the socket to its node."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterator

from ompo_ros.fci import messages


class Ended(Exception):
    """The node is gone."""


class Link:
    """Our end of the socket."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def packets(self, wait: float = 0.0) -> Iterator[bytes]:
        """All packets that have come; raises Ended if no more can come."""
        if wait:
            select.select([self._end], [], [], wait)
        while True:
            try:
                packet = self._end.recv(messages.LARGEST, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except ConnectionResetError as error:
                raise Ended from error
            if not packet:
                raise Ended
            yield packet

    def send(self, packet: bytes) -> None:
        """Send unless the node is slow or gone: the one means a newer state follows, the other is heard above."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            self._end.send(packet, socket.MSG_DONTWAIT)
