"""Finding launch files, and what is given to them."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory


class UsageError(Exception):
    """The command line cannot be followed; its text says why."""


def find_launch_file(package: str, file_name: str | None) -> Path:
    """Give the launch file of that name in a package's share folder."""
    try:
        share = Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError) as error:
        raise UsageError(f"Package '{package}' not found: {error}") from error
    known = sorted(path.name for path in share.rglob("*launch.py"))
    offer = f"it has: {', '.join(known)}" if known else "it has none"
    if file_name is None:
        raise UsageError(f"name a launch file of package '{package}'; {offer}")
    found = sorted(path for path in share.rglob(file_name) if path.is_file())
    if not found:
        raise UsageError(f"file '{file_name}' was not found in the share directory of package '{package}'; {offer}")
    if len(found) > 1:
        places = ", ".join(str(path) for path in found)
        raise UsageError(f"file '{file_name}' was found more than once in package '{package}': {places}")
    return found[0]


def parse_launch_arguments(arguments: list[str]) -> list[tuple[str, str]]:
    """Read `name:=value` arguments; of several with one name the last one wins."""
    parsed: dict[str, str] = {}
    for argument in arguments:
        name, separator, value = argument.partition(":=")
        if not name or not separator or not value:
            raise UsageError(f"malformed launch argument '{argument}', expected format '<name>:=<value>'")
        parsed[name] = value
    return list(parsed.items())
