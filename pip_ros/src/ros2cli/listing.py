"""The output that `topic list`, `service list` and `action list` share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

NamesAndTypes = Sequence[tuple[str, list[str]]]


def add_listing_arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    """Options of the lists; `kind` is the singular noun."""
    parser.add_argument("-t", "--show-types", action="store_true", help=f"Additionally show the {kind} type")
    parser.add_argument(
        "-c", f"--count-{kind}s", dest="count", action="store_true", help=f"Only display the number of {kind}s"
    )


def print_listing(entries: NamesAndTypes, args: argparse.Namespace) -> None:
    """Print one name per line, its types in brackets when asked for."""
    if args.count:
        print(len(entries))
        return
    for name, types in entries:
        print(f"{name} [{', '.join(types)}]" if args.show_types else name)
