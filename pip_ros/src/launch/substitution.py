"""The base of substitutions: values that are known only while the launch runs."""

from __future__ import annotations

from collections.abc import Iterable

from .launch_context import LaunchContext


class Substitution:
    """Something that becomes text when performed in a context."""

    def perform(self, context: LaunchContext) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no method perform")

    def describe(self) -> str:
        return repr(self)


class TextSubstitution(Substitution):
    """Text as it stands."""

    def __init__(self, *, text: str) -> None:
        self.text = text

    def describe(self) -> str:
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        return self.text


SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]


def normalized(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Give text, a substitution or a sequence of them one form."""
    parts = [subs] if isinstance(subs, (str, Substitution)) or not isinstance(subs, Iterable) else list(subs)
    for part in parts:
        if not isinstance(part, (str, Substitution)):
            raise TypeError(f"expected text, a substitution or a list of these, got {part!r}")
    return [TextSubstitution(text=part) if isinstance(part, str) else part for part in parts]


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Text of all parts, joined."""
    return "".join(part.perform(context) for part in subs)


def perform(context: LaunchContext, subs: SomeSubstitutionsType) -> str:
    """Text of anything that may stand for text."""
    return perform_substitutions(context, normalized(subs))


def describe(subs: SomeSubstitutionsType) -> str:
    """What `--show-args` shows of a value that is not known yet."""
    return " + ".join(part.describe() for part in normalized(subs))
