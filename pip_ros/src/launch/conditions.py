"""Conditions under which an action is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .condition import Condition
from .substitution import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform, perform_substitutions

if TYPE_CHECKING:
    from .launch_context import LaunchContext

__all__ = [
    "IfCondition",
    "InvalidConditionExpressionError",
    "LaunchConfigurationEquals",
    "LaunchConfigurationNotEquals",
    "UnlessCondition",
    "evaluate_condition_expression",
]


class InvalidConditionExpressionError(Exception):
    """A condition's text is neither true nor false."""


def evaluate_condition_expression(context: LaunchContext, expression: SomeSubstitutionsType) -> bool:
    """Read text as a truth: true, 1, false or 0, in any case."""
    text = perform(context, expression)
    truth = {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())
    if truth is None:
        raise InvalidConditionExpressionError(f"expected 'true', '1', 'false' or '0' as a condition, got '{text}'")
    return truth


class IfCondition(Condition):
    """Executes the action when the expression is true."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=lambda context: evaluate_condition_expression(context, expression))


class UnlessCondition(Condition):
    """Executes the action when the expression is false."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=lambda context: not evaluate_condition_expression(context, expression))


class LaunchConfigurationEquals(Condition):
    """Executes the action when a launch configuration has the expected text (None: when it is not set)."""

    def __init__(self, launch_configuration_name: str, expected_value: SomeSubstitutionsType | None) -> None:
        expected = None if expected_value is None else normalize_to_list_of_substitutions(expected_value)

        def equal(context: LaunchContext) -> bool:
            value = context.launch_configurations.get(launch_configuration_name)
            return value == (None if expected is None else perform_substitutions(context, expected))

        super().__init__(predicate=equal)


class LaunchConfigurationNotEquals(Condition):
    """Executes the action when a launch configuration has another text than this."""

    def __init__(self, launch_configuration_name: str, expected_value: SomeSubstitutionsType | None) -> None:
        equals = LaunchConfigurationEquals(launch_configuration_name, expected_value)
        super().__init__(predicate=lambda context: not equals.evaluate(context))
