"""Where launch descriptions come from: files in Python."""

import importlib.machinery
import importlib.util
from pathlib import Path

from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .substitution import SomeSubstitutionsType, normalized, perform


class InvalidLaunchFileError(Exception):
    """A file is no launch file; the text says why."""


def get_launch_description_from_python_launch_file(python_launch_file_path: str) -> LaunchDescription:
    """Run a launch file and call its `generate_launch_description`."""
    path = Path(python_launch_file_path)
    if path.suffix != ".py":
        raise InvalidLaunchFileError(f"'{path}' is no Python launch file; XML and YAML need ROS 2's own launch")
    loader = importlib.machinery.SourceFileLoader("python_launch_file", str(path))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(loader.name, loader, origin=str(path)))
    module.__file__ = str(path)
    loader.exec_module(module)
    if not hasattr(module, "generate_launch_description"):
        raise InvalidLaunchFileError(f"launch file '{path}' has no function 'generate_launch_description'")
    description = module.generate_launch_description()
    if not isinstance(description, LaunchDescription):
        raise InvalidLaunchFileError(f"'generate_launch_description' of '{path}' returned {description!r}")
    return description


class PythonLaunchDescriptionSource:
    """A launch file that is read when first needed."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        self._path = normalized(launch_file_path)
        self._description: LaunchDescription | None = None

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        if self._description is None:
            self._description = get_launch_description_from_python_launch_file(perform(context, self._path))
        return self._description

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Read the file beforehand, unless that takes what only the launch will know."""
        from .launch_context import LaunchContext

        try:
            return self.get_launch_description(LaunchContext())
        except Exception:
            return None
