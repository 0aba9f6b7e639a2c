"""The loop's sockets: packets from and to its node, and a look at the robot's states that wait to be read."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path

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


class StateArrivals:
    """Looks at the client's own socket: only there can be seen that a newer state has come.

    A command for a state that is over comes too late: the robot has already continued by itself.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        for number in _datagram_sockets():
            self._poll.register(number, select.POLLIN)

    def is_overtaken(self) -> bool:
        """Whether a newer state than the one last read has come."""
        return bool(self._poll.poll(0))


def _datagram_sockets() -> Iterator[int]:
    for number in (int(entry.name) for entry in Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as copy:
            if copy.family == socket.AF_INET and copy.type == socket.SOCK_DGRAM:
                yield number
