"""Everything a learner is, on disk: written whole or not at all, checked when read, the last few kept.

A checkpoint is a directory `checkpoint-<updates>` with `agent.safetensors` (networks, optimisers, normalisers, random
states), `buffers.safetensors` (the used rows of every buffer) and `manifest.json` (settings, counters, SHA-256 sums).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file, save_file

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.config import Config, InvalidConfig
from ompo_ros.learning.factory import make_agent
from ompo_ros.learning.state import Arrays, agent_arrays, buffer_arrays, counters, restore_state

FORMAT = 1
MANIFEST = "manifest.json"
FILES = ("agent.safetensors", "buffers.safetensors")
PREFIX = "checkpoint-"


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be used: what is wrong with it, and the newest good one beside it, if any."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path, self.problem = path, problem
        self.previous = _newest_good(path.parent, before=path)
        offer = f"; the previous good one is {self.previous}" if self.previous else "; there is no other good one here"
        super().__init__(f"{path}: {problem}{offer}")


def save(agent: Agent, folder: Path, keep: int = 3) -> Path:
    """Write a checkpoint beside the older ones, then drop all but the last `keep`."""
    if keep < 1:
        raise ValueError(f"keep: {keep} would delete what was just written, at least 1 is needed")
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / f"{PREFIX}{agent.updates:012d}"
    unfinished = folder / f".{final.name}.{os.getpid()}"
    for left_behind in folder.glob(f".{PREFIX}*"):
        shutil.rmtree(left_behind)
    unfinished.mkdir()
    for name, arrays in zip(FILES, (agent_arrays(agent), buffer_arrays(agent)), strict=True):
        save_file(arrays, unfinished / name)
    _write_text(unfinished / MANIFEST, json.dumps(_manifest(agent, unfinished), indent=2))
    for name in (*FILES, "."):
        _sync(unfinished / name)
    if final.exists():  # the same updates, saved again
        final.rename(folder / f".{final.name}.replaced")
    unfinished.rename(final)
    _sync(folder)
    for old in (*list_checkpoints(folder)[:-keep], *folder.glob(f".{PREFIX}*")):
        shutil.rmtree(old)
    return final


def list_checkpoints(folder: Path) -> list[Path]:
    """Give the checkpoints of a folder, oldest first; what was never finished does not appear."""
    return sorted(path for path in folder.glob(f"{PREFIX}*") if path.is_dir())


def newest_good(folder: Path) -> Path | None:
    """Find the newest checkpoint that passes its checks."""
    return _newest_good(folder, before=None)


def load(path: Path, device: str = "auto") -> Agent:
    """Make the learner a checkpoint describes, exactly as it was."""
    manifest = check(path)
    try:
        config = Config.from_dict(manifest["config"])
    except InvalidConfig as reason:
        raise CheckpointError(path, f"its settings are not usable here, {reason}") from reason
    agent = make_agent(config, manifest["obs_dim"], manifest["act_dim"], manifest["seed"], device)
    restore(agent, path)
    return agent


def restore(agent: Agent, path: Path) -> None:
    """Put a learner of the same settings and sizes into the checkpoint's state; otherwise it stays untouched."""
    manifest = check(path)
    mine = _identity(agent)
    for name in ("obs_dim", "act_dim", *mine["config"]):
        theirs = manifest["config"].get(name) if name in mine["config"] else manifest[name]
        own = mine["config"].get(name, mine.get(name))
        if theirs != own:
            raise CheckpointError(path, f"{name} is {theirs!r} in it and {own!r} in this run: start with the same")
    arrays: Arrays = {}
    for name in FILES:
        arrays.update(load_file(path / name))
    missing = sorted(set(agent_arrays(agent)) - set(arrays))
    if missing:
        raise CheckpointError(path, f"holds no {missing[0]}")
    restore_state(agent, arrays, manifest["counters"])


def check(path: Path) -> dict[str, Any]:
    """Verify a checkpoint without loading it into anything, and give its manifest."""
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text())
    except OSError as reason:
        raise CheckpointError(path, f"{MANIFEST} cannot be read ({reason.strerror})") from reason
    except ValueError as reason:
        raise CheckpointError(path, f"{MANIFEST} is not JSON") from reason
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CheckpointError(path, f"{MANIFEST} is not of format {FORMAT}")
    absent = {"config", "counters", "obs_dim", "act_dim", "seed", "sha256"} - set(manifest)
    if absent:
        raise CheckpointError(path, f"{MANIFEST} has no {sorted(absent)[0]}")
    for name in FILES:
        if not (path / name).is_file():
            raise CheckpointError(path, f"{name} is missing")
        if _sha256(path / name) != manifest["sha256"].get(name):
            raise CheckpointError(path, f"{name} is damaged, its SHA-256 differs from the manifest's")
    return manifest


def _newest_good(folder: Path, before: Path | None) -> Path | None:
    for path in reversed(list_checkpoints(folder)):
        if before is None or path.name < before.name:
            try:
                check(path)
            except CheckpointError:
                continue
            return path
    return None


def _identity(agent: Agent) -> dict[str, Any]:
    return {"config": agent.config.to_dict(), "obs_dim": agent.obs_dim, "act_dim": agent.act_dim, "seed": agent.seed}


def _manifest(agent: Agent, folder: Path) -> dict[str, Any]:
    sums = {name: _sha256(folder / name) for name in FILES}
    return {"format": FORMAT, **_identity(agent), "counters": counters(agent), "sha256": sums}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write_text(path: Path, text: str) -> None:
    path.write_text(text)
    _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
