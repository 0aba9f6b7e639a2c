"""Installed ROS packages and their executables, as the ament index knows them."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_prefix, get_packages_with_prefixes

from ros2cli.errors import CommandError


def package_names() -> list[str]:
    """List all packages, sorted."""
    return sorted(get_packages_with_prefixes())


def package_prefix(package: str) -> Path:
    """Find the prefix a package is installed under."""
    try:
        return Path(get_package_prefix(package))
    except (PackageNotFoundError, ValueError):
        raise CommandError(f"Package '{package}' not found: `ros2 pkg list` shows those there are") from None


def executables(package: str) -> list[Path]:
    """List the executables of a package, in `<prefix>/lib/<package>/` and its folders."""
    folder = package_prefix(package) / "lib" / package
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and os.access(path, os.X_OK)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts[:-1])
    )
