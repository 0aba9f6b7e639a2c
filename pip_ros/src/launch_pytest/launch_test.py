"""The parts of a launch test: before and after the launch is shut down."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from .running_launch import RunningLaunch

_ENDED = object()


def has_two_parts(function: object) -> bool:
    """Tell whether a test yields, and so goes on after the shutdown."""
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


class LaunchTest:
    """One call of a test function, beside the launch that it tests."""

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any], running: RunningLaunch) -> None:
        self._function = function
        self._arguments = arguments
        self._running = running
        self._generator: Any = None

    def run(self) -> None:
        """Run the test, or its part before the yield."""
        if inspect.iscoroutinefunction(self._function):
            self._running.run(self._function(**self._arguments))
        elif not has_two_parts(self._function):
            self._running.run_in_thread(functools.partial(self._function, **self._arguments))
        else:
            self._generator = self._function(**self._arguments)
            if self._advance() is _ENDED:
                pytest.fail("a launch test that is a generator must yield once", pytrace=False)

    def run_after_shutdown(self) -> None:
        """Run the part after the yield."""
        if self._advance() is not _ENDED:
            pytest.fail("a launch test that is a generator must yield only once", pytrace=False)

    def _advance(self) -> object:
        if inspect.isasyncgen(self._generator):
            return self._running.run(_next(self._generator))
        return self._running.run_in_thread(lambda: next(self._generator, _ENDED))


async def _next(generator: Any) -> object:  # noqa: ANN401 - an asynchronous generator
    return await anext(generator, _ENDED)
