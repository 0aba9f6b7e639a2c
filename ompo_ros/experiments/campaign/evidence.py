"""What a run's folder proves at a moment: the transitions that are safe, and the policies that stand."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_KEPT = 20  # newest policies that the server keeps


@dataclass(frozen=True)
class Standing:
    """A policy somebody relies on: its channel, version, weights and file."""

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
    """The policies the registry's channels stand on, with whole files."""
    entries, active = _registry(run_dir)
    found = []
    for channel, version in active.items():
        entry = next((entry for entry in entries if entry["version"] == version), None)
        if entry is not None and _is_whole(run_dir, entry):
            found.append(Standing(channel, version, entry["weights_sha256"], _file_name(entry)))
    return found


def is_lost(policy: Standing, run_dir: Path, *, channels_known: bool) -> bool:
    """Whether a policy that stood is gone from the registry or the disk.

    One on `stable` is also lost if it left that channel, unless the only record of the channels was destroyed.
    """
    entries, active = _registry(run_dir)
    kept = [entry for entry in entries if entry["weights_sha256"] == policy.weights and _is_whole(run_dir, entry)]
    if policy.channel == "stable":
        return not kept or (channels_known and active.get("stable") != policy.version)
    newer = [entry for entry in entries if entry["version"] > policy.version]
    return not kept and len(newer) < _KEPT


def _registry(run_dir: Path) -> tuple[list[dict[str, Any]], dict[str, int]]:
    try:
        state = json.loads((run_dir / "policies" / "registry.json").read_text())
        return state["entries"], {move["channel"]: move["version"] for move in state["moves"]}
    except (OSError, ValueError, KeyError, TypeError):
        return [], {}


def _is_whole(run_dir: Path, entry: dict[str, Any]) -> bool:
    try:
        return _sha256(run_dir / "policies" / "policies" / _file_name(entry)) == str(entry["sha256"])
    except OSError:
        return False


def _file_name(entry: dict[str, Any]) -> str:
    return f"{entry['version']:010d}-{entry['sha256']}.onnx"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
