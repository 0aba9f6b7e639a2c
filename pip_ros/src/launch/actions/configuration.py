"""Arguments, configurations and environment variables."""

from collections.abc import MutableMapping

from ..conditions import IfCondition
from ..launch_context import LaunchContext
from ..launch_description_entity import Action
from ..substitution import SomeSubstitutionsType, normalized, perform


class DeclareLaunchArgument(Action):
    """Makes a launch configuration an argument, which the user or the including file may set."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: list[str] | None = None,
        condition: IfCondition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if choices is not None and isinstance(default_value, str) and default_value not in choices:
            raise RuntimeError(f'Provided default_value "{default_value}" is not in provided choices "{choices}".')
        self.name = name
        self.default_value = None if default_value is None else normalized(default_value)
        self.description = _described(description, choices)
        self.choices = choices
        self.conditionally_included = False

    def execute(self, context: LaunchContext) -> None:
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise RuntimeError(f'Required launch argument "{self.name}" ({self.description}) was not provided.')
            context.launch_configurations[self.name] = perform(context, self.default_value)
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            raise RuntimeError(
                f'Argument "{self.name}" provided value "{value}" is not valid. Valid options are: {self.choices}'
            )


def _described(description: str | None, choices: list[str] | None) -> str:
    if choices is None:
        return description or "no description given"
    if description is None:
        return f"One of: {choices}"
    return f"{description.removesuffix('.')}. Valid choices are: {choices}"


class SetLaunchConfiguration(Action):
    """Sets a launch configuration."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, *, condition: IfCondition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._name, self._value = name, value

    def execute(self, context: LaunchContext) -> None:
        self._place(context)[perform(context, self._name)] = perform(context, self._value)

    def _place(self, context: LaunchContext) -> MutableMapping[str, str]:
        return context.launch_configurations


class SetEnvironmentVariable(SetLaunchConfiguration):
    """Sets an environment variable of the launch, which its processes inherit."""

    def _place(self, context: LaunchContext) -> MutableMapping[str, str]:
        return context.environment
