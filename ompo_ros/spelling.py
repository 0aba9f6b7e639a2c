"""What a misspelt name was probably meant to be, for the message that refuses it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
    """Name the nearest of the known names; where none is near, all of them."""
    names = list(known)
    near = difflib.get_close_matches(word, names, 1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
