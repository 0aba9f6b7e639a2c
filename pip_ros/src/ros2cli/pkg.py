"""`ros2 pkg`: installed packages and their executables, as the ament index knows them."""

import argparse
import os
from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_prefix, get_packages_with_prefixes

from ros2cli.errors import CommandError


def package_prefix(package: str) -> Path:
    """Find the prefix a package is installed under."""
    try:
        return Path(get_package_prefix(package))
    except (PackageNotFoundError, ValueError):
        raise CommandError(f"Package '{package}' not found: `ros2 pkg list` shows those there are") from None


def executables_of(package: str) -> list[Path]:
    """List the executables of a package, in `<prefix>/lib/<package>/`."""
    folder = package_prefix(package) / "lib" / package
    return sorted(path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK))


def _executables_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package_name", nargs="?", help="The package name (default: all packages)")


def executables(args: argparse.Namespace) -> int:
    """Output a list of package specific executables."""
    for package in [args.package_name] if args.package_name else sorted(get_packages_with_prefixes()):
        for path in executables_of(package):
            print(f"{package} {path.name}")
    return 0


def list_packages(_: argparse.Namespace) -> int:
    """Output a list of available packages."""
    print("\n".join(sorted(get_packages_with_prefixes())))
    return 0


VERBS = {
    "executables": (_executables_arguments, executables),
    "list": (lambda _: None, list_packages),
}
