"""Launch files within launch files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..launch_description import LaunchDescription
from ..launch_description_entity import LaunchDescriptionEntity
from ..launch_description_sources import AnyLaunchDescriptionSource, LaunchDescriptionSource
from ..substitution import SomeSubstitutionsType
from ..utilities import perform
from .configuration import SetLaunchConfiguration
from .opaque_function import OpaqueFunction

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

FILE_LOCALS = ("current_launch_file_path", "current_launch_file_directory")


class IncludeLaunchDescription(Action):
    """Visits another launch file, with arguments for it."""

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self._source = launch_description_source
        self._arguments = tuple(launch_arguments or ())

    @property
    def launch_description_source(self) -> LaunchDescriptionSource:
        return self._source

    @property
    def launch_arguments(self) -> tuple[tuple[SomeSubstitutionsType, SomeSubstitutionsType], ...]:
        return self._arguments

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        description = self._source.try_get_launch_description_without_context()
        return [] if description is None else [description]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        description = self._source.get_launch_description(context)
        self._check_required(context, description)
        outer = {name: value for name, value in context.get_locals_as_dict().items() if name in FILE_LOCALS}
        path = Path(self._source.location).resolve()
        inner = {"current_launch_file_path": str(path), "current_launch_file_directory": str(path.parent)}
        return [
            *(SetLaunchConfiguration(name, value) for name, value in self._arguments),
            OpaqueFunction(function=_enter_file, args=[inner]),
            description,
            OpaqueFunction(function=_enter_file, args=[outer]),
        ]

    def _check_required(self, context: LaunchContext, description: LaunchDescription) -> None:
        """Name a missing argument before anything of the file is launched."""
        given = {perform(context, name) for name, _ in self._arguments} | set(context.launch_configurations)
        own = [entity for entity in description.get_launch_arguments() if entity in description.entities]
        for argument in own:
            optional = argument.conditionally_included or argument.default_value is not None
            if not optional and argument.name not in given:
                raise RuntimeError(
                    f"Included launch description missing required argument '{argument.name}' "
                    f"(description: '{argument.description}'), given: [{', '.join(sorted(given))}]"
                )


def _enter_file(context: LaunchContext, names: dict[str, str]) -> None:
    context.extend_locals(names)
