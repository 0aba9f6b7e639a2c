"""Names of nodes and namespaces."""

import re


def joined(base: str | None, namespace: str | None) -> str | None:
    """Give the absolute namespace that a relative one means within a base; an absolute one means itself."""
    if base is None and namespace is None:
        return None
    path = namespace or "" if (namespace or "").startswith("/") else f"{base or ''}/{namespace or ''}"
    absolute = "/" + "/".join(part for part in path.split("/") if part)
    if not re.fullmatch(r"/|(/[A-Za-z_][A-Za-z0-9_]*)+", absolute):
        raise ValueError(f"'{absolute}' is no valid namespace: use letters, digits and '_', no digit first")
    return absolute


def checked_node_name(name: str) -> str:
    """Refuse names that no node can have."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"'{name}' is no valid node name: use letters, digits and '_', no digit first")
    return name
