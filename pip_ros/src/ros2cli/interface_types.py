"""From an interface's name, such as `std_msgs/msg/String`, to the Python class generated for it."""

from __future__ import annotations

import importlib
from typing import Any

from ros2cli.errors import CommandError

# What the class of each kind must carry, and the noun users know it by.
_KINDS = {
    "msg": ("message", ("SLOT_TYPES",)),
    "srv": ("service", ("Request", "Response")),
    "action": ("action", ("Goal", "Result", "Feedback")),
}


def interface_class(name: str, kind: str) -> Any:  # noqa: ANN401 - generated classes share no base
    """Import the class; `package/Name` is accepted for `package/<kind>/Name`."""
    noun, attributes = _KINDS[kind]
    parts = name.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    if len(parts) != 3 or not all(part.isidentifier() for part in parts):
        raise CommandError(f"The passed {noun} type is invalid: '{name}' is not of the form package/{kind}/Name")
    package, namespace, base_name = parts
    try:
        found = getattr(importlib.import_module(f"{package}.{namespace}"), base_name)
    except ModuleNotFoundError:
        raise CommandError(f"The passed {noun} type is invalid: no package '{package}' with {noun} types") from None
    except AttributeError:
        raise CommandError(f"The passed {noun} type is invalid: '{package}/{namespace}' has no '{base_name}'") from None
    if not all(hasattr(found, attribute) for attribute in attributes):
        raise CommandError(f"The passed type is not of the right kind: '{name}' is no {noun}")
    return found
