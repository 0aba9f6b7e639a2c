"""Installed packages and their executables, as the ament index knows them."""

import os
from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_prefix

from ros2cli.errors import CommandError


def package_prefix(package: str) -> Path:
    """Find the prefix a package is installed under."""
    try:
        return Path(get_package_prefix(package))
    except (PackageNotFoundError, ValueError):
        raise CommandError(f"Package '{package}' not found: is it installed, and AMENT_PREFIX_PATH right?") from None


def executables_of(package: str) -> list[Path]:
    """List the executables of a package, in `<prefix>/lib/<package>/`."""
    folder = package_prefix(package) / "lib" / package
    return sorted(path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK))
