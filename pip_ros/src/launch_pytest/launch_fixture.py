"""Fixtures that return a launch description."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

_ATTRIBUTE = "_launch_pytest_fixture"


@dataclasses.dataclass(eq=False, frozen=True)
class LaunchFixture:
    """What is to be known about a launch fixture; one object for each."""

    name: str
    scope: str
    shutdown_when_idle: bool
    auto_shutdown: bool


def fixture(
    decorated: Callable[..., Any] | None = None,
    *args: Any,  # noqa: ANN401 - those of pytest.fixture
    shutdown_when_idle: bool = True,
    auto_shutdown: bool = True,
    **kwargs: Any,  # noqa: ANN401 - those of pytest.fixture
) -> Any:  # noqa: ANN401 - what pytest.fixture gives differs between its versions
    """Make a function that returns a LaunchDescription, or a sequence that begins with one, a launch fixture."""

    def decorate(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - as above
        described = LaunchFixture(
            name=kwargs.get("name") or function.__name__,
            scope=kwargs.get("scope", "function"),
            shutdown_when_idle=shutdown_when_idle,
            auto_shutdown=auto_shutdown,
        )
        setattr(function, _ATTRIBUTE, described)
        return pytest.fixture(*args, **kwargs)(function)

    return decorate if decorated is None else decorate(decorated)


def launch_fixture_of(thing: object) -> LaunchFixture | None:
    """Tell what `fixture` noted about a function, or about what pytest made of it."""
    found = getattr(thing, _ATTRIBUTE, None)
    return found if isinstance(found, LaunchFixture) else None
