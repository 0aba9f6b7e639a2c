"""What the machine knows: variables, programs, the output of commands."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from .. import logging
from ..substitution import SomeSubstitutionsType, Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class EnvironmentVariable(Substitution):
    """The value of an environment variable."""

    def __init__(self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None) -> None:
        self._name = normalize_to_list_of_substitutions(name)
        self._default = None if default_value is None else normalize_to_list_of_substitutions(default_value)

    @property
    def name(self) -> list[Substitution]:
        return self._name

    def describe(self) -> str:
        return f"EnvVar({' + '.join(part.describe() for part in self._name)})"

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self._name)
        if name in context.environment:
            return context.environment[name]
        if self._default is None:
            raise SubstitutionFailure(f"environment variable '{name}' does not exist")
        return perform_substitutions(context, self._default)


class FindExecutable(Substitution):
    """The path of a program on PATH."""

    def __init__(self, *, name: SomeSubstitutionsType) -> None:
        self._name = normalize_to_list_of_substitutions(name)

    @property
    def name(self) -> list[Substitution]:
        return self._name

    def describe(self) -> str:
        return f"FindExec({' + '.join(part.describe() for part in self._name)})"

    def perform(self, context: LaunchContext) -> str:
        name = perform_substitutions(context, self._name)
        path = shutil.which(name, path=context.environment.get("PATH"))
        if path is None:
            raise SubstitutionFailure(f"executable '{name}' not found on the PATH")
        return path


class Command(Substitution):
    """What a command writes to its standard output."""

    def __init__(self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail") -> None:
        self._command = normalize_to_list_of_substitutions(command)
        self._on_stderr = normalize_to_list_of_substitutions(on_stderr)

    def describe(self) -> str:
        return f"Command({' + '.join(part.describe() for part in self._command)})"

    def perform(self, context: LaunchContext) -> str:
        command = perform_substitutions(context, self._command)
        on_stderr = perform_substitutions(context, self._on_stderr)
        if on_stderr not in ("fail", "ignore", "warn", "capture"):
            raise SubstitutionFailure(f"on_stderr must be fail, ignore, warn or capture, got '{on_stderr}'")
        try:
            result = subprocess.run(
                shlex.split(command),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE,
                text=True,
                check=False,
            )
        except OSError as error:
            raise SubstitutionFailure(f"cannot run '{command}': {error}") from error
        if result.returncode != 0:
            raise SubstitutionFailure(f"'{command}' ended with exit code {result.returncode}: {result.stderr or ''}")
        if result.stderr and on_stderr == "fail":
            raise SubstitutionFailure(f"'{command}' wrote to its standard error: {result.stderr}")
        if result.stderr and on_stderr == "warn":
            logging.get_logger("launch").warning(f"'{command}' wrote to its standard error: {result.stderr}")
        return result.stdout
