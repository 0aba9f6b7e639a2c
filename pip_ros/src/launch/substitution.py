"""Substitutions: values that are known only while the launch runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Substitution:
    """Something that turns into text when performed in a context."""

    def perform(self, context: LaunchContext) -> str:
        raise NotImplementedError(f"{type(self).__name__} does not say what it becomes")

    def describe(self) -> str:
        return repr(self)


SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]
