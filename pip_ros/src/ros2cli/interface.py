"""`ros2 interface`: the .msg, .srv and .action files that installed packages share."""

import argparse
import re
from collections.abc import Iterator

from ros2cli.errors import CommandError
from ros2cli.packages import package_prefix

_PRIMITIVE = re.compile(r"(bool|byte|char|float32|float64|u?int(8|16|32|64)|w?string(<=\d+)?)$")


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-comments", action="store_true", help="Show no comments or whitespace")
    parser.add_argument("type", help="Interface to show (e.g. 'std_msgs/msg/String')")


def show(args: argparse.Namespace) -> int:
    """Output the interface definition, nested types below their fields."""
    for line in _lines(args.type, not args.no_comments, ""):
        print(line)
    return 0


def _lines(name: str, comments: bool, indent: str) -> Iterator[str]:
    package, kind, *rest = [*name.split("/"), ""][:3]
    path = package_prefix(package) / "share" / f"{name}.{kind}"
    if not any(rest) or not path.is_file():
        raise CommandError(f"Could not find the interface '{name}': expected e.g. std_msgs/msg/String")
    for line in path.read_text(encoding="utf-8").splitlines():
        code = line.split("#")[0].rstrip()
        text = line.rstrip() if comments else code
        if text or comments:
            yield indent + text if text else ""
        nested = _nested_type(code, package)
        if nested is not None:
            yield from _lines(nested, False, indent + "\t")


def _nested_type(code: str, package: str) -> str | None:
    """Name the message type a field has, as `package/msg/Name`; None for primitives, constants and separators."""
    words = code.split()
    if len(words) < 2 or "=" in words[1]:
        return None
    type_name = words[0].split("[")[0]
    if _PRIMITIVE.match(type_name):
        return None
    owner, _, base_name = type_name.rpartition("/")
    return f"{owner.split('/')[0] or package}/msg/{base_name}"


VERBS = {"show": (_show_arguments, show)}
