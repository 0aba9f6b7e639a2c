"""Events of processes: what happened to one, and what is asked of some."""

from __future__ import annotations

import signal as signals
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..event import Event

if TYPE_CHECKING:
    from ..actions.execute_process import ExecuteProcess

ProcessMatcher = Callable[["ExecuteProcess"], bool]


class RunningProcessEvent(Event):
    """Something happened to a process."""

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self,
        *,
        action: ExecuteProcess,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int,
    ) -> None:
        self.action = action
        self.process_name = name
        self.cmd = cmd
        self.cwd = cwd
        self.env = env
        self.pid = pid

    @property
    def execute_process_action(self) -> ExecuteProcess:
        return self.action


class ProcessStarted(RunningProcessEvent):
    """A process runs."""

    name = "launch.events.process.ProcessStarted"


class ProcessExited(RunningProcessEvent):
    """A process has ended."""

    name = "launch.events.process.ProcessExited"

    def __init__(
        self,
        *,
        returncode: int,
        action: ExecuteProcess,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int,
    ) -> None:
        super().__init__(action=action, name=name, cmd=cmd, cwd=cwd, env=env, pid=pid)
        self.returncode = returncode


class ProcessIO(RunningProcessEvent):
    """A process wrote something."""

    name = "launch.events.process.ProcessIO"
    fd = 0

    def __init__(
        self,
        *,
        text: bytes,
        action: ExecuteProcess,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int,
    ) -> None:
        super().__init__(action=action, name=name, cmd=cmd, cwd=cwd, env=env, pid=pid)
        self.text = text

    @property
    def from_stdin(self) -> bool:
        return self.fd == 0

    @property
    def from_stdout(self) -> bool:
        return self.fd == 1

    @property
    def from_stderr(self) -> bool:
        return self.fd == 2


class ProcessStdout(ProcessIO):
    """A process wrote to its standard output."""

    name = "launch.events.process.ProcessStdout"
    fd = 1


class ProcessStderr(ProcessIO):
    """A process wrote to its standard error."""

    name = "launch.events.process.ProcessStderr"
    fd = 2


class ProcessTargetedEvent(Event):
    """Something is asked of the processes that the matcher picks."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: ProcessMatcher) -> None:
        self.process_matcher = process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """The process is to end: SIGINT, then SIGTERM, then SIGKILL."""

    name = "launch.events.process.ShutdownProcess"


class SignalProcess(ProcessTargetedEvent):
    """The process is to receive a signal."""

    name = "launch.events.process.SignalProcess"

    def __init__(self, *, signal_number: str | signals.Signals | int, process_matcher: ProcessMatcher) -> None:
        super().__init__(process_matcher=process_matcher)
        by_name = isinstance(signal_number, str)
        self.signal = signals.Signals[str(signal_number)] if by_name else signals.Signals(int(signal_number))

    @property
    def signal_name(self) -> str:
        return self.signal.name


def matches_pid(pid: int) -> ProcessMatcher:
    """Matcher of the process with this number."""
    return lambda action: (action.process_details or {}).get("pid") == pid


def matches_name(name: str) -> ProcessMatcher:
    """Matcher of the process with this name, such as `talker-1`."""
    return lambda action: (action.process_details or {}).get("name") == name


def matches_executable(executable: str) -> ProcessMatcher:
    """Matcher of processes of this program."""
    return lambda action: ((action.process_details or {}).get("cmd") or [None])[0] == executable
