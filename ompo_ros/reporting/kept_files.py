"""Copies of the user's presets and domain files in a run's folder, since the originals may change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ompo_ros.files import write_whole

CONFIG = "config"  # the folder of the copies; below it `robots` and `domains`, as in the package


class CannotKeep(ValueError):
    """Two files that would have the same copy; the message says what to do."""


def is_path(value: object) -> bool:
    """Whether a preset or domain is named by its path, not by its name in the package."""
    return isinstance(value, str) and value.endswith((".yaml", ".yml"))


def kept_copy(folder: Path, kind: str, value: str) -> str:
    """The run's copy of a file; empty if there is none."""
    path = _place(folder, kind, value)
    return str(path) if is_path(value) and path.exists() else ""


def keep_files(folder: Path, named: Iterable[tuple[str, str]]) -> None:
    """Copy the files given by path; they keep their names, which are the robot's or the domain's."""
    sources: dict[Path, Path] = {}
    for kind, value in named:
        source = Path(value).resolve()
        if not is_path(value) or not source.exists():
            continue  # the node that needs the file refuses, and says why
        place = _place(folder, kind, value)
        if sources.setdefault(place, source) != source:
            raise CannotKeep(f"{source} and {sources[place]} have the same name: rename one of them.")
    for place, source in sources.items():
        if place != source:
            write_whole(place, source.read_bytes())


def _place(folder: Path, kind: str, value: str) -> Path:
    return folder / CONFIG / kind / Path(value).name
