"""One process of the operating system: its group, its output, its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from typing import Any, cast

OUTPUT_AFTER_EXIT = 0.5
"""Seconds to wait for the rest of the output when a grandchild keeps the pipes open."""


class ChildProcess:
    """A started process, leader of a session of its own: signals reach its children too, a terminal's Ctrl-C none."""

    def __init__(self, transport: asyncio.SubprocessTransport, exited: asyncio.Future[int]) -> None:
        self.pid = transport.get_pid()
        self._transport = transport
        self._exited = exited
        self._channels: list[_OutputChannel] = []

    @classmethod
    async def start(
        cls,
        cmd: list[str],
        *,
        cwd: str | None,
        env: dict[str, str] | None,
        shell: bool,
        emulate_tty: bool,
        on_output: Callable[[int, bytes], None],
    ) -> ChildProcess:
        """Start a command; `on_output` gets the number of the stream (1 or 2) and the bytes."""
        loop = asyncio.get_running_loop()
        exited: asyncio.Future[int] = loop.create_future()
        pairs = [pty.openpty() if emulate_tty else os.pipe() for _ in range(2)]
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: _ExitProtocol(exited),
                *(["/bin/sh", "-c", " ".join(cmd)] if shell else cmd),
                stdin=subprocess.PIPE,
                stdout=pairs[0][1],
                stderr=pairs[1][1],
                cwd=cwd,
                env=env,
                start_new_session=True,
            )
        except BaseException:
            for read_end, _ in pairs:
                os.close(read_end)
            raise
        finally:
            for _, write_end in pairs:
                os.close(write_end)
        child = cls(transport, exited)
        for stream, (read_end, _) in enumerate(pairs, start=1):
            child._channels.append(await _OutputChannel.open(read_end, stream, on_output))
        return child

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode()

    async def wait(self) -> int:
        """Wait for the end of the process and of its output."""
        returncode = await asyncio.shield(self._exited)
        closed = [channel.closed for channel in self._channels]
        await asyncio.wait(closed, timeout=OUTPUT_AFTER_EXIT if self.group_lives() else None)
        self._transport.close()
        return returncode

    async def exited_within(self, seconds: float) -> bool:
        """Tell whether the process ends in time."""
        done, _ = await asyncio.wait([self._exited], timeout=seconds)
        return bool(done)

    def group_lives(self) -> bool:
        """Tell whether the process or one of its descendants is still there."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def send_signal(self, number: signal.Signals) -> None:
        """Signal the process and the descendants that stayed in its group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


class _ExitProtocol(asyncio.SubprocessProtocol):
    """Turns the end of a process into a future."""

    def __init__(self, exited: asyncio.Future[int]) -> None:
        self._exited = exited
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def process_exited(self) -> None:
        if self._transport is not None and not self._exited.done():
            self._exited.set_result(cast(int, self._transport.get_returncode()))


class _OutputChannel(asyncio.Protocol):
    """Reads one stream of a process until all who could write to it are gone."""

    def __init__(self, stream: int, on_output: Callable[[int, bytes], None]) -> None:
        self._stream = stream
        self._on_output = on_output
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, descriptor: int, stream: int, on_output: Callable[[int, bytes], None]) -> _OutputChannel:
        channel = cls(stream, on_output)
        pipe: Any = os.fdopen(descriptor, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: channel, pipe)
        return channel

    def data_received(self, data: bytes) -> None:
        self._on_output(self._stream, data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)
