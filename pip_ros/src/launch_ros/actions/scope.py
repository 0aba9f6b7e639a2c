"""What holds for all nodes that follow, until the end of the group."""

from __future__ import annotations

from typing import Any

from launch import Action, Condition, LaunchContext, SomeSubstitutionsType
from launch.utilities import perform

from ..namespaces import joined
from ..parameter_descriptions import ParameterFile, evaluate_parameters

NAMESPACE, PARAMETERS, REMAPS = "ros_namespace", "global_params", "ros_remaps"
"""Launch configurations that carry the scope, so that GroupAction ends it."""


class PushRosNamespace(Action):
    """Moves the nodes that follow into a namespace."""

    def __init__(self, namespace: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        outer = context.launch_configurations.get(NAMESPACE)
        context.launch_configurations[NAMESPACE] = joined(outer, perform(context, self._namespace))


class SetParameter(Action):
    """Gives the nodes that follow a parameter."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, condition: Condition | None = None) -> None:  # noqa: ANN401
        super().__init__(condition=condition)
        self._parameter = {name: value}

    def execute(self, context: LaunchContext) -> None:
        _extend(context, PARAMETERS, list(evaluate_parameters(context, self._parameter).items()))


class SetParametersFromFile(Action):
    """Gives the nodes that follow the parameters of a file."""

    def __init__(self, filename: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._file = ParameterFile(filename)

    def execute(self, context: LaunchContext) -> None:
        _extend(context, PARAMETERS, [self._file.evaluate(context)])


class SetRemap(Action):
    """Remaps a name for the nodes that follow."""

    def __init__(
        self, src: SomeSubstitutionsType, dst: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._rule = (src, dst)

    def execute(self, context: LaunchContext) -> None:
        source, target = self._rule
        _extend(context, REMAPS, [(perform(context, source), perform(context, target))])


def _extend(context: LaunchContext, name: str, items: list[Any]) -> None:
    context.launch_configurations[name] = [*context.launch_configurations.get(name, []), *items]
