"""What happened to a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..launch_context import Event

if TYPE_CHECKING:
    from ..actions import ExecuteProcess


class RunningProcessEvent(Event):
    """Something happened to a process; the details are those of its action."""

    def __init__(self, *, action: ExecuteProcess, name: str, cmd: list[str], pid: int, **_: Any) -> None:  # noqa: ANN401
        self.action = action
        self.process_name = name
        self.cmd = cmd
        self.pid = pid


class ProcessIO(RunningProcessEvent):
    """A process wrote something, not always a whole line."""

    def __init__(self, *, text: bytes, fd: int, **details: Any) -> None:  # noqa: ANN401
        super().__init__(**details)
        self.text = text
        self.from_stdout, self.from_stderr = fd == 1, fd == 2


class ProcessExited(RunningProcessEvent):
    """A process has ended."""

    def __init__(self, *, returncode: int, **details: Any) -> None:  # noqa: ANN401
        super().__init__(**details)
        self.returncode = returncode
