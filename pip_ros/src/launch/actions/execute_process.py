"""Processes: their start, their end, their revival."""

import asyncio
import codecs
import itertools
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import logging
from ..child_process import ChildProcess
from ..conditions import IfCondition
from ..event_handlers import OnProcessExit, OnShutdown, Reaction
from ..events.process import ProcessExited, ProcessIO, RunningProcessEvent
from ..launch_context import Event, LaunchContext
from ..launch_description_entity import Action
from ..substitution import SomeSubstitutionsType, Substitution, normalized, perform
from ..substitutions import LaunchConfiguration

_numbers = itertools.count(1)
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class ExecuteProcess(Action):
    """Runs a program until it ends, or the launch does."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        name: SomeSubstitutionsType | None = None,
        additional_env: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        sigterm_timeout: SomeSubstitutionsType = LaunchConfiguration("sigterm_timeout", default="5"),  # noqa: B008
        sigkill_timeout: SomeSubstitutionsType = LaunchConfiguration("sigkill_timeout", default="5"),  # noqa: B008
        output: SomeSubstitutionsType | logging.Places = "log",
        cached_output: bool = False,
        on_exit: Reaction | None = None,
        respawn: bool = False,
        respawn_delay: float | None = None,
        condition: IfCondition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self.cmd: list[list[Substitution]] = [normalized(part) for part in cmd]
        self._given_name = name
        self._additional_env = additional_env or {}
        self._timeouts = (sigterm_timeout, sigkill_timeout)
        self._output = output
        self._cached_output = cached_output
        self._on_exit = on_exit
        self._respawn = respawn
        self._respawn_delay = respawn_delay or 0.0
        self._streams: dict[int, _Output] = {}
        self._task: asyncio.Task[None] | None = None
        self._stop_asked = asyncio.Event()
        self.process_details: dict[str, Any] | None = None
        self.return_code: int | None = None

    def get_stdout(self) -> str:
        return self._cached(1)

    def get_stderr(self) -> str:
        return self._cached(2)

    def _cached(self, stream: int) -> str:
        if not self._cached_output:
            raise RuntimeError("the output of a process is kept only with cached_output=True")
        return self._streams[stream].text if stream in self._streams else ""

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        return self._task

    def execute(self, context: LaunchContext) -> None:
        if self._task is not None:
            raise RuntimeError(f"{self.cmd}: executed more than once; make a new action for a second process")
        details = self._prepare(context)
        if context.is_shutdown:
            return
        if self._on_exit is not None:
            context.register_event_handler(OnProcessExit(target_action=self, on_exit=self._on_exit))
        context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        self._task = context.asyncio_loop.create_task(self._run(context, details))

    def _prepare(self, context: LaunchContext) -> dict[str, Any]:
        """Perform all substitutions, so that mistakes show before anything runs."""
        cmd = [perform(context, part) for part in self.cmd]
        label = Path(cmd[0]).name if self._given_name is None else perform(context, self._given_name)
        name = f"{label}-{next(_numbers)}"
        env = dict(context.environment)
        env.update({perform(context, key): perform(context, value) for key, value in self._additional_env.items()})
        self.process_details = {"action": self, "name": name, "cmd": cmd, "env": env}
        self._seconds = [perform(context, timeout) for timeout in self._timeouts]
        self._logger = logging.get_logger(name)
        output = self._output if isinstance(self._output, dict) else perform(context, self._output)
        places = logging.output_places(output)
        self._streams = {
            stream: _Output(f"[{name}] ", place, self._cached_output) for stream, place in enumerate(places, start=1)
        }
        return self.process_details

    async def _run(self, context: LaunchContext, details: dict[str, Any]) -> None:
        while not self._stop_asked.is_set() and await self._run_once(context, details):
            if not self._respawn:
                return
            waiting = asyncio.ensure_future(self._stop_asked.wait())
            await asyncio.wait([waiting], timeout=self._respawn_delay)
            waiting.cancel()

    async def _run_once(self, context: LaunchContext, details: dict[str, Any]) -> bool:
        """Run the process to its end; False where its program cannot be started, of which no event tells."""
        command = " ".join(details["cmd"])

        def on_output(stream: int, data: bytes) -> None:
            self._streams[stream].write(data)
            context.emit_event_sync(ProcessIO(text=data, fd=stream, **details))

        child = ChildProcess(on_output)
        try:
            await child.start(details["cmd"], details["env"])
        except OSError as error:
            self._logger.error(f"exception occurred while executing process: {error} [cmd '{command}']")
            return False
        self.return_code = None
        details["pid"] = child.pid
        self._logger.info(f"process started with pid [{child.pid}]")
        context.emit_event_sync(RunningProcessEvent(**details))
        stopping = asyncio.ensure_future(self._stop_when_asked(child, details["name"]))
        try:
            returncode = await child.wait()
        finally:
            stopping.cancel()
            child.close()
        for stream in self._streams.values():
            stream.flush()
        if returncode == 0:
            self._logger.info(f"process has finished cleanly [pid {child.pid}]")
        else:
            self._logger.error(f"process has died [pid {child.pid}, exit code {returncode}, cmd '{command}'].")
        self.return_code = returncode
        context.emit_event_sync(ProcessExited(returncode=returncode, **details))
        return True

    def _on_shutdown(self, _event: Event, _context: LaunchContext) -> None:
        self._stop_asked.set()

    async def _stop_when_asked(self, child: ChildProcess, name: str) -> None:
        """Ask the process to end, ever less politely."""
        await self._stop_asked.wait()
        for number, harder, seconds in itertools.zip_longest(STOP_SIGNALS, STOP_SIGNALS[1:], self._seconds):
            self._logger.info(f"sending signal '{number.name}' to process[{name}]")
            child.send_signal(number)
            if harder is None:
                return
            if (await asyncio.wait([child.exited], timeout=float(seconds)))[0]:
                return
            self._logger.error(
                f"process[{name}] failed to terminate '{seconds}' seconds after receiving '{number.name}', "
                f"escalating to '{harder.name}'"
            )


class _Output:
    """One stream of a process: kept, and reported line by line."""

    def __init__(self, prefix: str, places: tuple[bool, bool], cached: bool) -> None:
        self.text = ""
        self._cached = cached
        self._prefix = prefix
        self._places = places
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._line = ""

    def write(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        if self._cached:
            self.text += text
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            logging.write(self._prefix + line.rstrip("\r"), *self._places)

    def flush(self) -> None:
        """Report what came without a line's end."""
        if self._line:
            logging.write(self._prefix + self._line, *self._places)
        self._line = ""
