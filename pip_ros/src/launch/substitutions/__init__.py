"""Text that is worked out while the launch runs."""

from .boolean import (
    AllSubstitution,
    AndSubstitution,
    AnySubstitution,
    EqualsSubstitution,
    IfElseSubstitution,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
)
from .failure import SubstitutionFailure
from .launch_state import LaunchConfiguration, LocalSubstitution, ThisLaunchFile, ThisLaunchFileDir
from .python_expression import PythonExpression
from .system import Command, EnvironmentVariable, FindExecutable
from .text import PathJoinSubstitution, TextSubstitution

__all__ = [
    "AllSubstitution",
    "AndSubstitution",
    "AnySubstitution",
    "Command",
    "EnvironmentVariable",
    "EqualsSubstitution",
    "FindExecutable",
    "IfElseSubstitution",
    "LaunchConfiguration",
    "LocalSubstitution",
    "NotEqualsSubstitution",
    "NotSubstitution",
    "OrSubstitution",
    "PathJoinSubstitution",
    "PythonExpression",
    "SubstitutionFailure",
    "TextSubstitution",
    "ThisLaunchFile",
    "ThisLaunchFileDir",
]
