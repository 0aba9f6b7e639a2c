"""Message definitions for MCAP: the .msg file, followed by those of all types it uses."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

_SEPARATOR: Final = "=" * 80
_PRIMITIVE: Final = re.compile(r"bool|byte|char|w?string|u?int(8|16|32|64)|float(32|64)")
_FIELD: Final = re.compile(r"(?P<type>[A-Za-z][\w/]*)(?P<bounds>[\w<=\[\]]*)\s+(?P<name>[a-z]\w*)\s*(?P<rest>.*)")


@lru_cache
def definition(kind: str) -> str:
    """The text of a message type, such as `sensor_msgs/msg/JointState`, from the installed packages."""
    first, *nested = _all_types(kind)
    sections = [f"{_SEPARATOR}\nMSG: {_short(name)}\n{_file(name)}" for name in nested]
    return "\n".join([_file(first), *sections])


def fields(text: str) -> list[tuple[str, str]]:
    """Type and name of each field of a definition's first message; comments and constants are left out."""
    found = []
    for line in text.split(_SEPARATOR)[0].splitlines():
        match = _FIELD.match(line.split("#")[0].strip())
        if match and not match["rest"].startswith("="):
            found.append((match["type"] + match["bounds"], match["name"]))
    return found


def _all_types(kind: str) -> list[str]:
    """A type and all types it uses, each once, itself first."""
    found, waiting = [], [kind]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting += _parts(name)
    return found


def _parts(kind: str) -> Iterator[str]:
    for declared, _ in fields(_file(kind)):
        plain = re.sub(r"(<=\d+)?(\[.*\])?$", "", declared)
        if not _PRIMITIVE.fullmatch(plain):
            package, _, name = plain.rpartition("/")
            yield f"{package or kind.split('/')[0]}/msg/{name}"


def _short(kind: str) -> str:
    package, _, name = kind.split("/")
    return f"{package}/{name}"


@lru_cache
def _file(kind: str) -> str:
    package, folder, name = kind.split("/")
    prefixes = [sys.prefix, *filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))]
    for prefix in prefixes:
        path = Path(prefix) / "share" / package / folder / f"{name}.msg"
        if path.exists():
            return path.read_text()
    raise FileNotFoundError(
        f"the definition of {kind} is in none of: {', '.join(prefixes)}. Install {package}, or source its workspace."
    )
