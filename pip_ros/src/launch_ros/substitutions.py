"""Where packages and their executables are."""

from __future__ import annotations

import shutil
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

__all__ = ["ExecutableInPackage", "FindPackagePrefix", "FindPackageShare"]


class _FindPackage(Substitution):
    """A folder of a package, by the ament index."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        self._package = normalize_to_list_of_substitutions(package)

    @property
    def package(self) -> list[Substitution]:
        return self._package

    def describe(self) -> str:
        return f"{type(self).__name__}(pkg={' + '.join(part.describe() for part in self._package)})"


class FindPackagePrefix(_FindPackage):
    """The prefix that a package is installed into."""

    def perform(self, context: LaunchContext) -> str:
        return str(get_package_prefix(perform_substitutions(context, self._package)))


class FindPackageShare(_FindPackage):
    """The share folder of a package, which holds its launch and configuration files."""

    def perform(self, context: LaunchContext) -> str:
        return str(get_package_share_directory(perform_substitutions(context, self._package)))


class ExecutableInPackage(_FindPackage):
    """The path of a node's executable, in the lib folder of its package."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        super().__init__(package)
        self._executable = normalize_to_list_of_substitutions(executable)

    def perform(self, context: LaunchContext) -> str:
        executable = perform_substitutions(context, self._executable)
        package = perform_substitutions(context, self._package)
        folder = Path(get_package_prefix(package)) / "lib" / package
        path = shutil.which(executable, path=str(folder))
        if path is None:
            raise SubstitutionFailure(f"executable '{executable}' not found on the libexec directory '{folder}'")
        return path
