"""Python as the language of last resort in a launch file."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..substitution import SomeSubstitutionsType, Substitution
from ..utilities import normalize_to_list_of_substitutions, perform, perform_substitutions
from .failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class PythonExpression(Substitution):
    """The result of a Python expression that substitutions spell out."""

    def __init__(
        self, expression: SomeSubstitutionsType, python_modules: Sequence[SomeSubstitutionsType] = ("math",)
    ) -> None:
        self._expression = normalize_to_list_of_substitutions(expression)
        self._modules = python_modules

    def describe(self) -> str:
        return f"PythonExpr({' + '.join(part.describe() for part in self._expression)})"

    def perform(self, context: LaunchContext) -> str:
        expression = perform_substitutions(context, self._expression)
        names: dict[str, object] = {}
        for module in (importlib.import_module(perform(context, name)) for name in self._modules):
            if module.__name__ == "math":
                names.update(vars(module))
            names[module.__name__] = module
        try:
            return str(eval(expression, names))  # noqa: S307 - launch files are programs that the user chose to run
        except Exception as error:
            raise SubstitutionFailure(f"cannot evaluate '{expression}': {error}") from error
