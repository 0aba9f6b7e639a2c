"""One process of the operating system: its group, its output, its end."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import cast

OUTPUT_AFTER_EXIT = 0.5  # s to wait for the rest of the output where a grandchild keeps the pipes open


class ChildProcess(asyncio.SubprocessProtocol):
    """A process in a session of its own: signals reach its children too, a terminal's Ctrl-C reaches none of them."""

    def __init__(self, on_output: Callable[[int, bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        self._on_output = on_output
        self.exited: asyncio.Future[int] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()

    async def start(self, cmd: list[str], env: dict[str, str]) -> None:
        """Start a command; `on_output` gets the number of the stream (1 or 2) and the bytes."""
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self, *cmd, stdin=subprocess.DEVNULL, env=env, start_new_session=True
        )

    async def wait(self) -> int:
        """Wait for the end of the process and of its output."""
        returncode = await asyncio.shield(self.exited)
        await asyncio.wait([self._closed], timeout=OUTPUT_AFTER_EXIT if self._group_lives() else None)
        return returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Signal the process and the descendants that stayed in its group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def close(self) -> None:
        """Leave nothing of the process behind."""
        self.send_signal(signal.SIGKILL)
        self._transport.close()

    def _group_lives(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        self._on_output(fd, cast(bytes, data))

    def process_exited(self) -> None:
        self.exited.set_result(cast(int, self._transport.get_returncode()))

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set_result(None)
