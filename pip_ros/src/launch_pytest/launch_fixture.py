"""Fixtures that return a launch description: one launch for each test, or one for a module."""

from collections.abc import Callable
from typing import Any

import pytest

_ATTRIBUTE = "_launch_pytest_fixture"


def fixture(
    decorated: Callable[..., Any] | None = None,
    **kwargs: Any,  # noqa: ANN401 - those of pytest.fixture
) -> Any:  # noqa: ANN401 - what pytest.fixture gives differs between its versions
    """Make a function that returns a LaunchDescription, or a sequence that begins with one, a launch fixture."""
    if kwargs.get("scope", "function") not in ("function", "module"):
        raise ValueError("pip_ros stands in for launch_pytest only with fixtures of scope 'function' or 'module'")

    def decorate(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - as above
        setattr(function, _ATTRIBUTE, kwargs.get("name") or function.__name__)
        return pytest.fixture(**kwargs)(function)

    return decorate if decorated is None else decorate(decorated)


def name_of_launch_fixture(thing: object) -> str | None:
    """Give the name `fixture` noted about a function, or about what pytest made of it; None for all else."""
    found = getattr(thing, _ATTRIBUTE, None)
    return found if isinstance(found, str) else None
