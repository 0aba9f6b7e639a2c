"""The .msg, .srv and .action files that installed packages share."""

from __future__ import annotations

from pathlib import Path

from ament_index_python import get_resource, get_resources

from ros2cli.errors import CommandError
from ros2cli.packages import package_prefix

KINDS = {"msg": "Messages", "srv": "Services", "action": "Actions"}


def interface_packages() -> list[str]:
    """List the packages that have interfaces, sorted."""
    return sorted(get_resources("rosidl_interfaces"))


def interfaces(package: str) -> list[str]:
    """List a package's interfaces as `msg/Name`, without those generated from services and actions."""
    package_prefix(package)
    if package not in get_resources("rosidl_interfaces"):
        return []
    content, _ = get_resource("rosidl_interfaces", package)
    return sorted({line.rsplit(".", 1)[0] for line in content.splitlines() if "_" not in line})


def definition_path(name: str) -> Path:
    """Find the file that defines `package/kind/Name`."""
    parts = name.split("/")
    if len(parts) != 3 or not all(part.isidentifier() for part in parts):
        raise CommandError(f"Invalid name '{name}'. Expected three parts separated by '/', e.g. std_msgs/msg/String")
    package, kind, _ = parts
    share = package_prefix(package) / "share"
    for suffix in (kind, "idl"):
        path = share / f"{name}.{suffix}"
        if path.exists():
            return path
    raise CommandError(f"Could not find the interface '{name}': `ros2 interface package {package}` shows those it has")
