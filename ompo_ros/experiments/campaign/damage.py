"""Damages a file of a run as disks and power cuts do."""

from __future__ import annotations

import random
from pathlib import Path

from ompo_ros.experiments.campaign.faults import Fault

_FILES = {
    "registry": ("policies/registry.json",),
    "metrics": ("metrics.csv", "episodes.csv"),
    "record": ("record.json",),
}


def damage(run_dir: Path, fault: Fault) -> Path | None:
    """Damage the fault's file and return its path; None if it does not exist yet."""
    rng = random.Random(fault.seed)
    path = _chosen(run_dir, fault.victim, rng)
    if path is None:
        return None
    try:
        if fault.variant == "deleted":
            path.unlink()
            return path
        content = bytearray(path.read_bytes())
        if fault.variant == "truncated":
            content = content[: rng.randrange(len(content) or 1)]
        else:
            content[rng.randrange(len(content))] ^= 0xFF
        path.write_bytes(content)
    except FileNotFoundError:  # its owner has just replaced it
        return None
    return path


def _chosen(run_dir: Path, victim: str, rng: random.Random) -> Path | None:
    if victim == "checkpoint":
        newest = sorted((run_dir / "checkpoints").glob("checkpoint-*"))[-1:]
        candidates = sorted(path for folder in newest for path in folder.iterdir())
    elif victim == "policy":
        candidates = sorted((run_dir / "policies" / "policies").glob("*.onnx"))
    else:
        candidates = [run_dir / name for name in _FILES[victim]]
    existing = [path for path in candidates if path.is_file() and path.stat().st_size]
    return rng.choice(existing) if existing else None
