"""Policies as the command line sees them, wherever they are kept: in a folder here, or behind a running server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ompo_ros.policy.errors import RegistryError
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import CHANNELS


@dataclass(frozen=True)
class Row:
    """One policy of a list."""

    version: int
    stamp: float
    channels: tuple[str, ...]
    pinned: bool
    success_rate: float | None
    episodes: int
    sha256: str
    note: str


class PolicyStore(Protocol):
    """What `ompo policy list` and `ompo policy activate` need."""

    warnings: list[str]  # what the user should know of the last call

    def rows(self) -> list[Row]:
        """Every policy, oldest first."""

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> str:
        """Move a channel, to its former policy where version is 0; says what was done, or raises RegistryError."""


class FolderStore:
    """A registry's folder that no server is using."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.warnings: list[str] = []

    def rows(self) -> list[Row]:
        registry = Registry(self._folder, read_only=True)
        self.warnings = registry.warnings
        rows = []
        for entry in registry.entries:
            channels = tuple(channel for channel in CHANNELS if registry.active(channel) == entry.version)
            pinned = any(registry.pinned(channel) for channel in channels)
            rate = entry.evaluation.success_rate if entry.evaluation else None
            episodes = entry.evaluation.episodes if entry.evaluation else 0
            note = registry.problem(entry.version) or entry.note
            rows.append(Row(entry.version, entry.stamp, channels, pinned, rate, episodes, entry.sha256, note))
        return rows

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> str:
        kept = len(Registry(self._folder, read_only=True).entries)
        registry = Registry(self._folder, keep=max(1, kept))  # a user's move deletes nothing
        self.warnings = registry.warnings
        try:
            version = version or registry.former(channel)
            if not version:
                raise RegistryError(f"{channel} has no earlier policy to go back to")
            previous = registry.move(channel, version, reason, pin=pin)
        finally:
            registry.close()
        return f"{channel} moved from policy {previous} to {version}{' and held there' if pin else ''}"
