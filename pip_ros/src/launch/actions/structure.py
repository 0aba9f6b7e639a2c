"""Actions that hold others: groups and included launch files."""

from collections.abc import Iterable

from ..conditions import IfCondition
from ..launch_context import LaunchContext
from ..launch_description import LaunchDescription, known_entities
from ..launch_description_entity import Action, LaunchDescriptionEntity
from ..launch_description_sources import PythonLaunchDescriptionSource
from ..substitution import SomeSubstitutionsType, perform
from .configuration import SetLaunchConfiguration
from .flow import OpaqueFunction


class GroupAction(Action):
    """Visits actions under one condition; what they set is forgotten after them."""

    def __init__(self, actions: Iterable[LaunchDescriptionEntity], *, condition: IfCondition | None = None) -> None:
        super().__init__(condition=condition)
        self._actions = list(actions)

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self._actions

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        context.push_scope()
        return [*self._actions, OpaqueFunction(function=lambda context: context.pop_scope())]


class IncludeLaunchDescription(Action):
    """Visits another launch file, with arguments for it."""

    def __init__(
        self,
        launch_description_source: PythonLaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        condition: IfCondition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if not isinstance(launch_description_source, PythonLaunchDescriptionSource):
            launch_description_source = PythonLaunchDescriptionSource(launch_description_source)
        self._source = launch_description_source
        self._arguments = tuple(launch_arguments or ())

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        description = self._source.try_get_launch_description_without_context()
        return [] if description is None else [description]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        description = self._source.get_launch_description(context)
        self._check_required(context, description)
        return [*(SetLaunchConfiguration(name, value) for name, value in self._arguments), description]

    def _check_required(self, context: LaunchContext, description: LaunchDescription) -> None:
        """Name a missing argument before anything of the file is launched; a configuration does not count as given."""
        inner = [entity for entity, _ in known_entities(description.entities)]
        includes = [self, *(entity for entity in inner if isinstance(entity, IncludeLaunchDescription))]
        given = [perform(context, name) for include in includes for name, _ in include._arguments]
        for argument in description.get_launch_arguments():
            optional = argument.conditionally_included or argument.default_value is not None
            if not optional and argument.name not in given:
                raise RuntimeError(
                    f"Included launch description missing required argument '{argument.name}' "
                    f"(description: '{argument.description}'), given: [{', '.join(given)}]"
                )
