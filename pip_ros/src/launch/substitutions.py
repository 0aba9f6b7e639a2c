"""Text that is worked out while the launch runs."""

import posixpath
from collections.abc import Iterable

from .launch_context import LaunchContext
from .substitution import SomeSubstitutionsType, Substitution, describe, normalized, perform


class SubstitutionFailure(Exception):
    """A substitution cannot be performed."""


class LaunchConfiguration(Substitution):
    """The value of a launch argument or configuration."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: SomeSubstitutionsType | None = None) -> None:
        self._name = normalized(variable_name)
        self._default = None if default is None else normalized(default)

    def describe(self) -> str:
        return f"LaunchConfig({describe(self._name)})"

    def perform(self, context: LaunchContext) -> str:
        name = perform(context, self._name)
        if name in context.launch_configurations:
            return str(context.launch_configurations[name])
        if self._default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform(context, self._default)


class PathJoinSubstitution(Substitution):
    """Parts of a path, joined by the separator."""

    def __init__(self, substitutions: Iterable[str | Substitution]) -> None:
        self._parts = normalized(substitutions)

    def describe(self) -> str:
        return f"PathJoin({', '.join(part.describe() for part in self._parts)})"

    def perform(self, context: LaunchContext) -> str:
        return posixpath.join(*(part.perform(context) for part in self._parts))
