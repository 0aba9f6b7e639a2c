"""Plain text and paths."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class TextSubstitution(Substitution):
    """Text as it stands."""

    def __init__(self, *, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution expected a str, got {text!r}")
        self._text = text

    @property
    def text(self) -> str:
        return self._text

    def describe(self) -> str:
        return f"'{self._text}'"

    def perform(self, context: LaunchContext) -> str:
        return self._text


class PathJoinSubstitution(Substitution):
    """Parts of a path, joined by the separator."""

    def __init__(self, substitutions: Iterable[str | Substitution]) -> None:
        self._parts = normalize_to_list_of_substitutions(substitutions)

    @property
    def substitutions(self) -> list[Substitution]:
        return self._parts

    def describe(self) -> str:
        return f"PathJoin({', '.join(part.describe() for part in self._parts)})"

    def perform(self, context: LaunchContext) -> str:
        return posixpath.join(*(part.perform(context) for part in self._parts))
