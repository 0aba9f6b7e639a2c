"""The type of whatever may be written where text is expected, under its genuine import path."""

import os
from collections.abc import Iterable

from .substitution import SomeSubstitutionsType, Substitution

SomeSubstitutionsType_types_tuple = (str, os.PathLike, Substitution, Iterable)

__all__ = ["SomeSubstitutionsType", "SomeSubstitutionsType_types_tuple"]
