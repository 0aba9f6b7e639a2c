"""Processes: their start, their end, their revival."""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import logging
from ..action import Action
from ..child_process import ChildProcess
from ..condition import Condition
from ..conditions import evaluate_condition_expression
from ..event import Event
from ..event_handler import EventHandler
from ..event_handlers import OnProcessExit, OnShutdown, Reaction
from ..events.process import (
    ProcessExited,
    ProcessStarted,
    ProcessStderr,
    ProcessStdout,
    ProcessTargetedEvent,
    ShutdownProcess,
    SignalProcess,
)
from ..launch_description_entity import LaunchDescriptionEntity
from ..substitution import SomeSubstitutionsType, Substitution
from ..substitutions import LaunchConfiguration
from ..utilities import normalize_to_list_of_substitutions, perform, perform_substitutions, perform_typed
from .opaque_function import OpaqueFunction
from .process_output import ProcessOutput

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

CANNOT_START = 127
"""Exit code of a process whose program cannot be executed, as a shell reports it."""

_numbers = itertools.count(1)
Environment = Mapping[SomeSubstitutionsType, SomeSubstitutionsType]


class ExecuteProcess(Action):
    """Runs a program until it ends, or the launch does."""

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Environment | None = None,
        additional_env: Environment | None = None,
        shell: bool = False,
        sigterm_timeout: SomeSubstitutionsType = LaunchConfiguration("sigterm_timeout", default="5"),  # noqa: B008
        sigkill_timeout: SomeSubstitutionsType = LaunchConfiguration("sigkill_timeout", default="5"),  # noqa: B008
        emulate_tty: bool = False,
        output: SomeSubstitutionsType | Mapping[str, Any] = "log",
        cached_output: bool = False,
        log_cmd: bool = False,
        on_exit: Reaction | None = None,
        respawn: bool | SomeSubstitutionsType = False,
        respawn_delay: float | None = None,
        respawn_max_retries: int = -1,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._cmd = [normalize_to_list_of_substitutions(part) for part in cmd]
        self._prefix = LaunchConfiguration("launch-prefix", default="") if prefix is None else prefix
        self._given_name = name
        self._cwd = cwd
        self._env = env
        self._additional_env = additional_env
        self._shell = shell
        self._timeouts = {signal.SIGTERM: sigterm_timeout, signal.SIGKILL: sigkill_timeout}
        self._emulate_tty = emulate_tty
        self._output = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT", output)
        self._cached_output = cached_output
        self._log_cmd = log_cmd
        self._on_exit = on_exit
        self._respawn = respawn
        self._respawn_delay = respawn_delay or 0.0
        self._respawns_left = respawn_max_retries
        self._details: dict[str, Any] | None = None
        self._child: ChildProcess | None = None
        self._return_code: int | None = None
        self._streams: dict[int, ProcessOutput] = {}
        self._task: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._stop_asked: asyncio.Event | None = None

    @property
    def cmd(self) -> list[list[Substitution]]:
        return self._cmd

    @property
    def name(self) -> str:
        """Name in the reports: that of the program, or as given, with a number."""
        return str(self._started_details["name"])

    @property
    def process_details(self) -> dict[str, Any] | None:
        return self._details

    @property
    def return_code(self) -> int | None:
        return self._return_code

    def get_stdout(self) -> str:
        return self._cached(1)

    def get_stderr(self) -> str:
        return self._cached(2)

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        return self._task

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return list(self._on_exit) if isinstance(self._on_exit, list) else []

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self._task is not None:
            raise RuntimeError(f"process '{self.name}' cannot be executed twice: make a new action for a second one")
        self._prepare(context)
        if context.is_shutdown:
            return None
        self._stop_asked = asyncio.Event()
        if self._on_exit is not None:
            context.register_event_handler(OnProcessExit(target_action=self, on_exit=self._on_exit))
        context.register_event_handler(OnShutdown(on_shutdown=self._on_shutdown))
        context.register_event_handler(
            EventHandler(matcher=self._is_asked_of_this, entities=OpaqueFunction(function=self._on_asked))
        )
        self._task = context.asyncio_loop.create_task(self._run(context))
        return None

    @property
    def _started_details(self) -> dict[str, Any]:
        if self._details is None:
            raise RuntimeError("the process has not been executed")
        return self._details

    def _cached(self, stream: int) -> str:
        if not self._cached_output:
            raise RuntimeError("the output of a process is kept only with cached_output=True")
        return self._streams[stream].text or "" if stream in self._streams else ""

    def _prepare(self, context: LaunchContext) -> None:
        """Perform all substitutions, so that mistakes show before anything runs."""
        cmd = shlex.split(perform(context, self._prefix))
        cmd += [perform_substitutions(context, part) for part in self._cmd]
        label = Path(cmd[0]).name if self._given_name is None else perform(context, self._given_name)
        name = f"{label}-{next(_numbers)}"
        env = _performed(context, self._env) if self._env is not None else dict(context.environment)
        env.update(_performed(context, self._additional_env or {}))
        self._details = {
            "action": self,
            "name": name,
            "cmd": cmd,
            "cwd": None if self._cwd is None else perform(context, self._cwd),
            "env": env,
        }
        self._respawn = perform_typed(context, self._respawn, bool)
        self._timeouts = {number: perform(context, after) for number, after in self._timeouts.items()}
        if "emulate_tty" in context.launch_configurations:
            configured = str(context.launch_configurations["emulate_tty"])
            self._emulate_tty = evaluate_condition_expression(context, configured)
        self._logger = logging.get_logger(name)
        output = self._output if isinstance(self._output, Mapping) else perform(context, self._output)
        loggers = logging.get_output_loggers(name, output)
        self._streams = {
            stream: ProcessOutput(f"[{name}] ", logger, cached=self._cached_output)
            for stream, logger in enumerate(loggers, start=1)
        }

    async def _run(self, context: LaunchContext) -> None:
        while not self._stop_asked_for():
            started = await self._run_once(context)
            if not (started and self._respawn and self._respawns_left != 0 and not self._stop_asked_for()):
                return
            self._respawns_left -= 1
            await self._pause(self._respawn_delay)

    async def _run_once(self, context: LaunchContext) -> bool:
        """Start the process and wait for its end; tell whether it could be started."""
        details = self._started_details
        if self._log_cmd:
            self._logger.info(f"process details: cmd='{' '.join(details['cmd'])}', cwd='{details['cwd']}'")
        try:
            child = await self._start(context)
        except OSError as error:
            self._logger.error(f"process cannot be started: {error} [cmd '{' '.join(details['cmd'])}'].")
            self._report_exit(context, CANNOT_START)
            return False
        if self._stop_asked_for():
            self._begin_stopping(child)
        returncode = await child.wait()
        if self._stopping is not None:
            await self._stopping
        self._forget(child, context)
        for stream in self._streams.values():
            stream.flush()
        if returncode == 0:
            self._logger.info(f"process has finished cleanly [pid {child.pid}]")
        else:
            command = " ".join(details["cmd"])
            self._logger.error(f"process has died [pid {child.pid}, exit code {returncode}, cmd '{command}'].")
        self._report_exit(context, returncode)
        return True

    async def _start(self, context: LaunchContext) -> ChildProcess:
        details = self._started_details
        details["pid"] = 0

        def on_output(stream: int, data: bytes) -> None:
            self._streams[stream].write(data)
            event = ProcessStdout if stream == 1 else ProcessStderr
            context.emit_event_sync(event(text=data, **details))

        child = await ChildProcess.start(
            details["cmd"],
            cwd=details["cwd"],
            env=details["env"],
            shell=self._shell,
            emulate_tty=self._emulate_tty,
            on_output=on_output,
        )
        self._child = child
        self._return_code = None
        details["pid"] = child.pid
        context.children.add(child)
        self._logger.info(f"process started with pid [{child.pid}]")
        context.emit_event_sync(ProcessStarted(**details))
        return child

    def _report_exit(self, context: LaunchContext, returncode: int) -> None:
        self._return_code = returncode
        context.emit_event_sync(ProcessExited(returncode=returncode, **self._started_details))

    def _forget(self, child: ChildProcess, context: LaunchContext) -> None:
        """Let go of an ended process; its orphans, if any, are killed at the end of the launch at the latest."""
        self._child = None
        if self._stop_asked_for():
            child.send_signal(signal.SIGKILL)
        if self._stop_asked_for() or not child.group_lives():
            context.children.discard(child)

    async def _pause(self, seconds: float) -> None:
        if self._stop_asked is None or seconds <= 0:
            return
        waiting = asyncio.ensure_future(self._stop_asked.wait())
        await asyncio.wait([waiting], timeout=seconds)
        waiting.cancel()

    def _stop_asked_for(self) -> bool:
        return self._stop_asked is not None and self._stop_asked.is_set()

    def _on_shutdown(self, _event: Event, _context: LaunchContext) -> None:
        self._stop()

    def _is_asked_of_this(self, event: Event) -> bool:
        return isinstance(event, ProcessTargetedEvent) and event.process_matcher(self)

    def _on_asked(self, context: LaunchContext) -> None:
        event = context.locals.event
        if isinstance(event, ShutdownProcess):
            self._stop()
        elif isinstance(event, SignalProcess) and self._child is not None:
            self._send(self._child, event.signal)

    def _stop(self) -> None:
        if self._stop_asked is not None and not self._stop_asked.is_set():
            self._stop_asked.set()
            if self._child is not None:
                self._begin_stopping(self._child)

    def _begin_stopping(self, child: ChildProcess) -> None:
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._insist(child))

    async def _insist(self, child: ChildProcess) -> None:
        """Ask the process to end, ever less politely."""
        sent = signal.SIGINT
        self._send(child, sent)
        for number in (signal.SIGTERM, signal.SIGKILL):
            after = self._timeouts[number]
            if await child.exited_within(float(str(after))):
                return
            self._logger.error(
                f"process[{self.name}] failed to terminate '{after}' seconds after receiving "
                f"'{sent.name}', escalating to '{number.name}'"
            )
            self._send(child, number)
            sent = number

    def _send(self, child: ChildProcess, number: signal.Signals) -> None:
        self._logger.info(f"sending signal '{number.name}' to process[{self.name}]")
        child.send_signal(number)


def _performed(context: LaunchContext, variables: Environment) -> dict[str, str]:
    return {perform(context, name): perform(context, value) for name, value in variables.items()}
