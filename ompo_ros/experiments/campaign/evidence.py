"""Evidence in a run's folder: the saved transitions and the policies in use."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import CHANNELS, STABLE, Entry

_KEPT = 20  # newest policies that the server keeps


@dataclass(frozen=True)
class Standing:
    """A policy in use: its channel, version, weights and file."""

    channel: str
    version: int
    weights: str
    file: str


def safe_steps(run_dir: Path, damaged: Collection[Path]) -> int:
    """Target transitions in the newest checkpoint that the campaign did not damage; 0 for none."""
    for folder in sorted((run_dir / "checkpoints").glob("checkpoint-*"), reverse=True):
        if any(path.parent == folder for path in damaged):
            continue
        with contextlib.suppress(OSError):  # just replaced by a newer one
            manifest = json.loads((folder / "manifest.json").read_text())
            return int(manifest["counters"]["seen"]["TARGET"])
    return 0


def standing_policies(run_dir: Path) -> list[Standing]:
    """The policies of the channels, with whole files; none while the registry cannot be read."""
    registry = _registry(run_dir)
    if registry is None:
        return []
    found = []
    for channel in CHANNELS:
        entry = registry.standing(channel)
        if entry is not None and _is_whole(run_dir, entry):
            found.append(Standing(channel, entry.version, entry.weights_sha256, entry.file_name))
    return found


def is_lost(policy: Standing, run_dir: Path, *, channels_known: bool) -> bool:
    """Whether a policy in use is gone for a user who opens the registry after the run.

    One on `stable` is also lost if it left that channel, unless the only record of the channels was destroyed.
    """
    registry = _registry(run_dir)
    if registry is None:
        return True
    kept = any(entry.weights_sha256 == policy.weights and _is_whole(run_dir, entry) for entry in registry.entries)
    if policy.channel == STABLE:
        return not kept or (channels_known and registry.active(STABLE) != policy.version)
    newer = [entry for entry in registry.entries if entry.version > policy.version]
    return not kept and len(newer) < _KEPT


def _registry(run_dir: Path) -> Registry | None:
    try:
        return Registry(run_dir / "policies", read_only=True)
    except (RuntimeError, OSError):
        return None


def _is_whole(run_dir: Path, entry: Entry) -> bool:
    try:
        content = (run_dir / "policies" / "policies" / entry.file_name).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == entry.sha256
