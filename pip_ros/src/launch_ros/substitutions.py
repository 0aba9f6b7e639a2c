"""Where packages and their executables are."""

import shutil
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch import LaunchContext
from launch.substitution import SomeSubstitutionsType, Substitution, describe, normalized, perform
from launch.substitutions import SubstitutionFailure


class FindPackagePrefix(Substitution):
    """The prefix that a package is installed into."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        self._package = normalized(package)

    def describe(self) -> str:
        return f"{type(self).__name__}(pkg={describe(self._package)})"

    def perform(self, context: LaunchContext) -> str:
        return str(get_package_prefix(perform(context, self._package)))


class FindPackageShare(FindPackagePrefix):
    """The share folder of a package, which holds its launch and configuration files."""

    def perform(self, context: LaunchContext) -> str:
        return str(get_package_share_directory(perform(context, self._package)))


class ExecutableInPackage(FindPackagePrefix):
    """The path of a node's executable, in the lib folder of its package."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        super().__init__(package)
        self._executable = normalized(executable)

    def perform(self, context: LaunchContext) -> str:
        executable = perform(context, self._executable)
        folder = Path(super().perform(context)) / "lib" / perform(context, self._package)
        path = shutil.which(executable, path=str(folder))
        if path is None:
            raise SubstitutionFailure(f"executable '{executable}' not found on the libexec directory '{folder}'")
        return path
