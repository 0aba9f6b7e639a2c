"""Tables of text for a shell."""

from __future__ import annotations

from collections.abc import Sequence

from ompo_ros.policy.records import plain


def print_table(texts: Sequence[Sequence[str]]) -> None:
    """Print rows in columns; what others wrote loses its control characters."""
    rows = [[plain(text) for text in row] for row in texts]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
