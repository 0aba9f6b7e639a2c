"""Truth and comparison: their text is `true` or `false`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import yaml

from ..substitution import SomeSubstitutionsType, Substitution
from ..utilities import coerce, normalize_to_list_of_substitutions, perform_substitutions
from .failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


def _is_true(context: LaunchContext, value: list[Substitution]) -> bool:
    text = perform_substitutions(context, value)
    try:
        return bool(coerce(text, bool))
    except (ValueError, yaml.YAMLError):
        raise SubstitutionFailure(f"expected true or false, got '{text}'") from None


class _Combination(Substitution):
    """Several truths made into one."""

    def __init__(self, *values: SomeSubstitutionsType) -> None:
        self._values = [normalize_to_list_of_substitutions(value) for value in values]

    def describe(self) -> str:
        parts = (" + ".join(part.describe() for part in value) for value in self._values)
        return f"{type(self).__name__}({', '.join(parts)})"

    def perform(self, context: LaunchContext) -> str:
        return str(self._combine(_is_true(context, value) for value in self._values)).lower()

    def _combine(self, values: Iterable[bool]) -> bool:
        raise NotImplementedError


class AllSubstitution(_Combination):
    """True when every value is."""

    def _combine(self, values: Iterable[bool]) -> bool:
        return all(values)


class AnySubstitution(_Combination):
    """True when at least one value is."""

    def _combine(self, values: Iterable[bool]) -> bool:
        return any(values)


class AndSubstitution(AllSubstitution):
    """True when both values are."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__(left, right)


class OrSubstitution(AnySubstitution):
    """True when one of two values is."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__(left, right)


class NotSubstitution(_Combination):
    """True when the value is not."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__(value)

    def _combine(self, values: Iterable[bool]) -> bool:
        return not any(values)


class EqualsSubstitution(Substitution):
    """Tells whether two texts are equal, or mean the same truth or number."""

    def __init__(self, left: SomeSubstitutionsType | bool | float, right: SomeSubstitutionsType | bool | float) -> None:
        self._sides = [
            normalize_to_list_of_substitutions(str(side) if isinstance(side, (bool, int, float)) else side)
            for side in (left, right)
        ]

    def describe(self) -> str:
        parts = (" + ".join(part.describe() for part in side) for side in self._sides)
        return f"{type(self).__name__}({' '.join(parts)})"

    def _equal(self, context: LaunchContext) -> bool:
        left, right = (perform_substitutions(context, side) for side in self._sides)
        if left == right:
            return True
        truths = [_TRUTHS.get(side.lower()) for side in (left, right)]
        if None not in truths:
            return truths[0] == truths[1]
        try:
            return math.isclose(float(left), float(right))
        except ValueError:
            return False

    def perform(self, context: LaunchContext) -> str:
        return str(self._equal(context)).lower()


_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


class NotEqualsSubstitution(EqualsSubstitution):
    """The opposite of EqualsSubstitution."""

    def perform(self, context: LaunchContext) -> str:
        return str(not self._equal(context)).lower()


class IfElseSubstitution(Substitution):
    """One of two texts, by a condition."""

    def __init__(
        self,
        condition: SomeSubstitutionsType,
        if_value: SomeSubstitutionsType = "",
        else_value: SomeSubstitutionsType = "",
    ) -> None:
        if if_value == else_value == "":
            raise RuntimeError("IfElseSubstitution needs an if_value or an else_value")
        self._condition = normalize_to_list_of_substitutions(condition)
        self._if = normalize_to_list_of_substitutions(if_value)
        self._else = normalize_to_list_of_substitutions(else_value)

    def describe(self) -> str:
        condition, if_value, else_value = (
            " + ".join(part.describe() for part in value) for value in (self._condition, self._if, self._else)
        )
        return f"IfElseSubstitution({condition}, {if_value}, {else_value})"

    def perform(self, context: LaunchContext) -> str:
        return perform_substitutions(context, self._if if _is_true(context, self._condition) else self._else)
