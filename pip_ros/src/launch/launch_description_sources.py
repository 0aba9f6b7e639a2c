"""Where launch descriptions come from: files in Python."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from .launch_description import LaunchDescription
from .substitution import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class InvalidLaunchFileError(Exception):
    """A file is no launch file; its text says why."""


def get_launch_description_from_python_launch_file(python_launch_file_path: str) -> LaunchDescription:
    """Run a launch file and call its `generate_launch_description`."""
    path = Path(python_launch_file_path)
    if not path.is_file():
        raise FileNotFoundError(f"launch file '{path}' does not exist")
    if path.suffix != ".py":
        raise InvalidLaunchFileError(f"'{path}' is no Python launch file; those in XML or YAML need ROS 2's own launch")
    loader = importlib.machinery.SourceFileLoader("python_launch_file", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    if spec is None:
        raise InvalidLaunchFileError(f"'{path}' cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    if not hasattr(module, "generate_launch_description"):
        raise InvalidLaunchFileError(f"launch file '{path}' has no function 'generate_launch_description'")
    description = module.generate_launch_description()
    if not isinstance(description, LaunchDescription):
        raise InvalidLaunchFileError(f"'generate_launch_description' of '{path}' returned {description!r}")
    return description


class LaunchDescriptionSource:
    """A launch description that is read when first needed."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        self._path = normalize_to_list_of_substitutions(launch_file_path)
        self._expanded: str | None = None
        self._description: LaunchDescription | None = None

    @property
    def location(self) -> str:
        return self._expanded or " + ".join(part.describe() for part in self._path)

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        if self._description is None:
            self._expanded = perform_substitutions(context, self._path)
            self._description = get_launch_description_from_python_launch_file(self._expanded)
        return self._description

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Read the file beforehand, unless its path depends on what only the launch will know."""
        from .launch_context import LaunchContext
        from .substitutions import SubstitutionFailure

        try:
            return self.get_launch_description(LaunchContext())
        except (SubstitutionFailure, FileNotFoundError):
            return None


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A launch file in Python."""


class AnyLaunchDescriptionSource(LaunchDescriptionSource):
    """A launch file; here they are all in Python."""
