"""Nodes, and the namespaces of groups of nodes."""

import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from launch import Action, LaunchContext
from launch import logging as launch_logging
from launch.actions import ExecuteProcess
from launch.conditions import IfCondition
from launch.substitution import SomeSubstitutionsType, normalized, perform

from .parameters import evaluate_parameters
from .substitutions import ExecutableInPackage

NAMESPACE = "ros_namespace"  # the launch configuration that carries the namespace, so that GroupAction ends it
NAME = "[A-Za-z_][A-Za-z0-9_]*"


def _joined(base: str | None, namespace: str | None) -> str | None:
    """Give the absolute namespace that a relative one means within a base; an absolute one means itself."""
    if base is None and namespace is None:
        return None
    path = namespace or "" if (namespace or "").startswith("/") else f"{base or ''}/{namespace or ''}"
    absolute = "/" + "/".join(part for part in path.split("/") if part)
    if not re.fullmatch(f"/|(/{NAME})+", absolute):
        raise ValueError(f"'{absolute}' is no valid namespace: use letters, digits and '_', no digit first")
    return absolute


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


class PushRosNamespace(Action):
    """Moves the nodes that follow into a namespace, until the end of the group."""

    def __init__(self, namespace: SomeSubstitutionsType, *, condition: IfCondition | None = None) -> None:
        super().__init__(condition=condition)
        self._namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        outer = context.launch_configurations.get(NAMESPACE)
        context.launch_configurations[NAMESPACE] = _joined(outer, perform(context, self._namespace))


class Node(ExecuteProcess):
    """Runs a node: a process that is given its name, namespace, parameters and remappings."""

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        parameters: list[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,  # noqa: ANN401 - those of ExecuteProcess, which checks them
    ) -> None:
        if not isinstance(parameters, (list, tuple, type(None))):
            raise TypeError(f"parameters must be a list of files and dictionaries, got {parameters!r}")
        program = ExecutableInPackage(package=package, executable=executable)
        super().__init__(cmd=[program, *(arguments or ()), "--ros-args"], **kwargs)
        self._name = name
        self._namespace = namespace
        self._parameters = list(parameters or ())
        self._remappings = list(remappings or ())

    def execute(self, context: LaunchContext) -> None:
        name = None if self._name is None else perform(context, self._name)
        if name is not None and not re.fullmatch(NAME, name):
            raise ValueError(f"'{name}' is no valid node name: use letters, digits and '_', no digit first")
        given = None if self._namespace is None else perform(context, self._namespace)
        namespace = _joined(context.launch_configurations.get(NAMESPACE), given)
        rules = [("__node", name), ("__ns", namespace)]
        rules += [(perform(context, source), perform(context, target)) for source, target in self._remappings]
        arguments = [part for rule in rules if rule[1] is not None for part in ("-r", ":=".join(map(str, rule)))]
        key = f"{namespace.rstrip('/')}/{name}" if name and namespace else "/**"
        temporary: list[Path] = []
        for parameters in self._parameters:
            path = self._parameter_file(context, parameters, key, temporary)
            arguments += [] if path is None else ["--params-file", str(path)]
        self.cmd += [normalized(argument) for argument in arguments]
        super().execute(context)
        if (future := self.get_asyncio_future()) is not None:
            future.add_done_callback(lambda _: _remove(temporary))

    def _parameter_file(
        self,
        context: LaunchContext,
        parameters: Any,  # noqa: ANN401 - a path or a dictionary
        key: str,
        temporary: list[Path],
    ) -> Path | None:
        """Give the file that holds these parameters; one that is made for a dictionary is noted as temporary."""
        if isinstance(parameters, Mapping):
            values = {key: {"ros__parameters": evaluate_parameters(context, parameters)}}
            with tempfile.NamedTemporaryFile("w", prefix="launch_params_", delete=False) as file:
                yaml.safe_dump(values, file, default_flow_style=None)
            temporary.append(Path(file.name))
            return Path(file.name)
        path = parameters if isinstance(parameters, Path) else Path(perform(context, parameters))
        if path.is_file():
            return path
        launch_logging.get_logger("launch_ros").warning(f"Parameter file path is not a file: {path}")
        return None
