"""Nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch import logging as launch_logging
from launch.actions import ExecuteProcess
from launch.utilities import normalize_to_list_of_substitutions, perform

from ..namespaces import checked_node_name, joined
from ..parameter_descriptions import Parameter, ParameterFile, evaluate_parameters, written
from ..substitutions import ExecutableInPackage
from .scope import NAMESPACE, PARAMETERS, REMAPS

RemapRules = Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]


class Node(ExecuteProcess):
    """Runs a node: a process that is told its name, namespace, parameters and remappings."""

    UNSPECIFIED_NODE_NAME = "<node_name_unspecified>"
    UNSPECIFIED_NODE_NAMESPACE = "<node_namespace_unspecified>"

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: list[Any] | None = None,
        remappings: RemapRules | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,  # noqa: ANN401 - those of ExecuteProcess, which checks them
    ) -> None:
        if parameters is not None and not isinstance(parameters, (list, tuple)):
            raise TypeError(f"parameters must be a list of files and dictionaries, got {parameters!r}")
        program = executable if package is None else ExecutableInPackage(package=package, executable=executable)
        ros = [] if ros_arguments is None else ["--ros-args", *ros_arguments]
        super().__init__(cmd=[program, *(arguments or ()), *ros, "--ros-args"], name=exec_name, **kwargs)
        self._package = package
        self._executable = executable
        self._node_name = name
        self._node_namespace = namespace
        self._parameters = [_described(parameter) for parameter in parameters or ()]
        self._remappings = list(remappings or ())
        self._final_name: str | None = None
        self._final_namespace: str | None = None
        self._temporary: list[Path] = []

    @property
    def node_package(self) -> SomeSubstitutionsType | None:
        return self._package

    @property
    def node_executable(self) -> SomeSubstitutionsType:
        return self._executable

    @property
    def node_name(self) -> str:
        """The full name, as far as the launch file gives it."""
        namespace = self._final_namespace or self.UNSPECIFIED_NODE_NAMESPACE
        return f"{namespace.rstrip('/')}/{self._final_name or self.UNSPECIFIED_NODE_NAME}"

    @property
    def expanded_node_namespace(self) -> str:
        return self._final_namespace or self.UNSPECIFIED_NODE_NAMESPACE

    def is_node_name_fully_specified(self) -> bool:
        return self._final_name is not None and self._final_namespace is not None

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self._node_name is not None:
            self._final_name = checked_node_name(perform(context, self._node_name))
        given = None if self._node_namespace is None else perform(context, self._node_namespace)
        self._final_namespace = joined(context.launch_configurations.get(NAMESPACE), given)
        rules = [*self._name_arguments(), *self._parameter_arguments(context), *self._remap_arguments(context)]
        self.cmd.extend(normalize_to_list_of_substitutions(rule) for rule in rules)
        entities = super().execute(context)
        if (future := self.get_asyncio_future()) is not None:
            future.add_done_callback(lambda _: self._remove_temporary())
        return entities

    def _name_arguments(self) -> list[str]:
        name = [] if self._final_name is None else ["-r", f"__node:={self._final_name}"]
        namespace = [] if self._final_namespace is None else ["-r", f"__ns:={self._final_namespace}"]
        return [*name, *namespace]

    def _parameter_arguments(self, context: LaunchContext) -> list[str]:
        """Spell parameters out, those of the scope first, so that the node's own override them."""
        arguments: list[str] = []
        for parameter in [*context.launch_configurations.get(PARAMETERS, []), *self._parameters]:
            if isinstance(parameter, tuple):
                arguments += ["-p", _rule(*parameter)]
            elif isinstance(parameter, Parameter):
                arguments += ["-p", _rule(*parameter.evaluate(context))]
            else:
                path = self._parameter_file(parameter, context)
                if path.is_file():
                    arguments += ["--params-file", str(path)]
                else:
                    launch_logging.get_logger("launch_ros").warning(f"Parameter file path is not a file: {path}")
        return arguments

    def _parameter_file(self, parameter: Path | ParameterFile | Mapping[Any, Any], context: LaunchContext) -> Path:
        if isinstance(parameter, Path):
            return parameter
        if isinstance(parameter, ParameterFile):
            path = parameter.evaluate(context)
            if parameter.makes_copies(context):
                self._temporary.append(path)
            return path
        node = self.node_name if self.is_node_name_fully_specified() else "/**"
        values = evaluate_parameters(context, parameter)
        path = written(yaml.safe_dump({node: {"ros__parameters": values}}, default_flow_style=None))
        self._temporary.append(path)
        return path

    def _remap_arguments(self, context: LaunchContext) -> list[str]:
        own = [(perform(context, source), perform(context, target)) for source, target in self._remappings]
        rules = [*context.launch_configurations.get(REMAPS, []), *own]
        return [part for source, target in rules for part in ("-r", f"{source}:={target}")]

    def _remove_temporary(self) -> None:
        for path in self._temporary:
            path.unlink(missing_ok=True)


def _described(parameter: Any) -> Parameter | ParameterFile | Mapping[Any, Any]:  # noqa: ANN401 - or a path
    return parameter if isinstance(parameter, (Parameter, ParameterFile, Mapping)) else ParameterFile(parameter)


def _rule(name: str, value: object) -> str:
    return f"{name}:={yaml.safe_dump(value, default_flow_style=True).removesuffix('...' + chr(10)).strip()}"
