"""Conditions under which an action is executed."""

from .launch_context import LaunchContext
from .substitution import SomeSubstitutionsType, normalized, perform


class InvalidConditionExpressionError(Exception):
    """A condition's text is neither true nor false."""


class IfCondition:
    """Lets the action be executed when the text is true."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self._expression = normalized(predicate_expression)

    def evaluate(self, context: LaunchContext) -> bool:
        text = perform(context, self._expression)
        truth = {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())
        if truth is None:
            raise InvalidConditionExpressionError(f"expected 'true', '1', 'false' or '0' as a condition, got '{text}'")
        return truth


class UnlessCondition(IfCondition):
    """Lets the action be executed when the text is false."""

    def evaluate(self, context: LaunchContext) -> bool:
        return not super().evaluate(context)
