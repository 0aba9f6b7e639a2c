"""What launch descriptions of tests can do."""

from __future__ import annotations

from collections.abc import Callable

from launch import Action, LaunchContext

__all__ = ["ReadyToTest"]


class ReadyToTest(Action):
    """Lets the tests begin."""

    def __init__(self) -> None:
        super().__init__()
        self._callbacks: list[Callable[[], None]] = []

    def add_callback(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def execute(self, context: LaunchContext) -> None:
        for callback in self._callbacks:
            callback()
