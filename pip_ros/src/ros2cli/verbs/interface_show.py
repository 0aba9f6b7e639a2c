"""`ros2 interface show`: the definition with the nested types written out below their fields."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator

from ros2cli.errors import CommandError
from ros2cli.interface_files import definition_path

_PRIMITIVE = re.compile(r"(bool|byte|char|float32|float64|u?int(8|16|32|64)|w?string(<=\d+)?)$")
# The part of a line before its comment; a '#' inside a quoted default starts none.
_CODE = re.compile(r"""(?:[^#"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|["'])*""")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    comments = parser.add_mutually_exclusive_group()
    comments.add_argument("--all-comments", action="store_true", help="Show all comments, also of nested interfaces")
    comments.add_argument("--no-comments", action="store_true", help="Show no comments or whitespace")
    parser.add_argument("type", help="Interface to show (e.g. 'std_msgs/msg/String'); '-' reads its name from stdin")


def code_of(line: str) -> str:
    """Cut off the comment."""
    match = _CODE.match(line)
    return match.group().rstrip() if match else line


def nested_type(code: str, package: str) -> str | None:
    """Name the message type a field has, as `package/msg/Name`; None for primitives, constants and separators."""
    words = code.split()
    if len(words) < 2 or re.match(r"\w+\s*=", " ".join(words[1:])):
        return None
    type_name = words[0].split("[")[0]
    if _PRIMITIVE.match(type_name):
        return None
    owner, _, base_name = type_name.rpartition("/")
    return f"{owner.split('/')[0] or package}/msg/{base_name}"


def lines_of(name: str, *, comments: bool, nested_comments: bool, depth: int = 0) -> Iterator[str]:
    """Yield the definition's lines, each field of a message type followed by that type, one tab deeper."""
    path = definition_path(name)
    for line in path.read_text(encoding="utf-8").splitlines():
        code = code_of(line)
        text = line.rstrip() if comments else code.strip()
        if text:
            yield "\t" * depth + text
        elif comments:
            yield ""
        nested = nested_type(code, name.split("/")[0]) if path.suffix != ".idl" else None
        if nested is not None:
            yield from lines_of(nested, comments=nested_comments, nested_comments=nested_comments, depth=depth + 1)


def run(args: argparse.Namespace) -> int:
    """Print the definition; nested comments only when all are asked for."""
    name = sys.stdin.readline().strip() if args.type == "-" else args.type
    if not name:
        raise CommandError("No interface name was passed")
    for line in lines_of(name, comments=not args.no_comments, nested_comments=args.all_comments):
        print(line)
    return 0
