"""Substitutions written as text, `$(var name)`, as parameter files may hold them."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from launch import LaunchContext, Substitution
from launch.substitutions import (
    EnvironmentVariable,
    LaunchConfiguration,
    PythonExpression,
    SubstitutionFailure,
    ThisLaunchFileDir,
)

from .substitutions import FindPackagePrefix, FindPackageShare

_KINDS: dict[str, Callable[..., Substitution]] = {
    "var": lambda name, default=None: LaunchConfiguration(name, default=default),
    "env": lambda name, default=None: EnvironmentVariable(name, default_value=default),
    "eval": lambda *parts: PythonExpression(" ".join(parts)),
    "dirname": ThisLaunchFileDir,
    "find-pkg-share": FindPackageShare,
    "find-pkg-prefix": FindPackagePrefix,
}


def expand(text: str, context: LaunchContext) -> str:
    """Replace each `$(...)`, the innermost first."""
    expanded, position = "", 0
    while (start := text.find("$(", position)) >= 0:
        end = _closing(text, start + 2)
        inner = expand(text[start + 2 : end], context)
        expanded += text[position:start] + _performed(inner, context)
        position = end + 1
    return expanded + text[position:]


def _closing(text: str, start: int) -> int:
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise SubstitutionFailure(f"'$({text[start : start + 20]}' is not closed by ')'")


def _performed(inner: str, context: LaunchContext) -> str:
    kind, *arguments = shlex.split(inner) or [""]
    if kind not in _KINDS:
        raise SubstitutionFailure(f"'$({inner})' is unknown; known are {', '.join(_KINDS)}")
    try:
        substitution = _KINDS[kind](*arguments)
    except TypeError as error:
        raise SubstitutionFailure(f"'$({inner})' has the wrong number of arguments") from error
    return substitution.perform(context)
