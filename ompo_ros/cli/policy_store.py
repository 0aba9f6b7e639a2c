"""Where the command line finds policies: in a folder here, or behind a running server."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ompo_ros.policy.registry import ListedPolicy, Registry


class PolicyStore(Protocol):
    """What `ompo policy list` and `ompo policy activate` need."""

    warnings: list[str]  # what the user should know of the last call

    def listing(self) -> list[ListedPolicy]:
        """Every policy, oldest first."""

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> str:
        """Move a channel, to its former policy where version is 0; says what was done, or raises RegistryError."""


class FolderStore:
    """A registry's folder that no server is using."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.warnings: list[str] = []

    def listing(self) -> list[ListedPolicy]:
        registry = Registry(self._folder, read_only=True)
        self.warnings = registry.warnings
        return registry.listing()

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> str:
        kept = len(Registry(self._folder, read_only=True).entries)
        registry = Registry(self._folder, keep=max(1, kept))  # a user's move deletes nothing
        self.warnings = registry.warnings
        try:
            version = registry.asked_for(channel, version)
            previous = registry.move(channel, version, reason, pin=pin)
        finally:
            registry.close()
        return f"{channel} moved from policy {previous} to {version}{' and held there' if pin else ''}"
