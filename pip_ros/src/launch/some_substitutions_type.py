"""The type of whatever may be written where text is expected, under its genuine import path."""

from collections.abc import Iterable

from .substitution import SomeSubstitutionsType, Substitution

SomeSubstitutionsType_types_tuple = (str, Substitution, Iterable)

__all__ = ["SomeSubstitutionsType", "SomeSubstitutionsType_types_tuple"]
