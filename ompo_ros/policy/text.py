"""Text from outside, made safe to print, to log and to keep."""

from __future__ import annotations

MAX_PLAIN = 500  # characters


def plain(text: str) -> str:
    """One short line without control characters: a terminal obeys those, whoever wrote them."""
    if len(text) > MAX_PLAIN:
        text = text[: MAX_PLAIN - 3] + "..."
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
