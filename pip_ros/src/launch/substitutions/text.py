"""Plain text and paths."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..substitution import SomeSubstitutionsType, Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions

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

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        self._parts = [normalize_to_list_of_substitutions(part) for part in substitutions]

    @property
    def substitutions(self) -> list[list[Substitution]]:
        return self._parts

    def describe(self) -> str:
        parts = (" + ".join(sub.describe() for sub in part) for part in self._parts)
        return f"PathJoin({', '.join(parts)})"

    def perform(self, context: LaunchContext) -> str:
        return str(Path(*(perform_substitutions(context, part) for part in self._parts)))
