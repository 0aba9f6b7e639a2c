"""Checkpoints of a whole learner: written whole or not at all, checked when read, the last few kept.

A checkpoint is a directory `checkpoint-<number>-<updates>` with `agent.safetensors` (networks, optimisers, normalisers,
random states), `buffers.safetensors` (the used rows of every buffer), `manifest.json` (settings, counters) and
`SHA256SUMS` of these three, as `sha256sum --check` reads it. Numbers only grow: the newest is the one written last.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.config import Config
from ompo_ros.learning.factory import make_agent
from ompo_ros.learning.state import (
    Arrays,
    UnfitState,
    agent_arrays,
    buffer_arrays,
    check_state,
    counters,
    restore_state,
)
from ompo_ros.parameters import InvalidParameter

FORMAT = 2
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
ARRAYS = ("agent.safetensors", "buffers.safetensors")
PREFIX = "checkpoint-"
KEYS = {"config", "counters", "obs_dim", "act_dim", "seed", "policy_version"}


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be used: what is wrong with it, and the newest good one beside it, if any."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path, self.problem = path, problem
        self.previous = _newest_good(path.parent, before=path)
        offer = f"; the previous good one is {self.previous}" if self.previous else "; there is no other good one here"
        super().__init__(f"{path}: {problem}{offer}")


class SettingsDiffer(CheckpointError):
    """A good checkpoint of another run; older ones are not tried."""


class NoneUsable(CheckpointError):
    """A folder in which no checkpoint can be used."""

    def __init__(self, folder: Path) -> None:
        self.path, self.problem, self.previous = folder, "none of its checkpoints can be used", None
        RuntimeError.__init__(self, f"{folder}: {self.problem}; choose another run_dir, or move them away")


class _Damaged(Exception):
    """A problem of a checkpoint, before it is related to the others."""


def save(agent: Agent, folder: Path, keep: int = 3, policy_version: int = 0) -> Path:
    """Write a checkpoint beside the older ones, then drop all but the last `keep`; raises OSError, dropping nothing."""
    if keep < 1:
        raise ValueError(f"keep: {keep} would delete what was just written, at least 1 is needed")
    folder.mkdir(parents=True, exist_ok=True)
    _remove_hidden(folder)
    older = list_checkpoints(folder)
    number = _number(older[-1]) + 1 if older else 1
    final = folder / f"{PREFIX}{number:06d}-{agent.updates}"
    unfinished = folder / f".{final.name}"
    try:
        unfinished.mkdir()
        _write(agent, unfinished, policy_version)
        unfinished.rename(final)
        _sync(folder)
    except SafetensorError as reason:
        raise OSError(f"{final} cannot be written: {reason}") from reason
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for old in list_checkpoints(folder)[:-keep]:
        old.rename(folder / f".{old.name}")  # an incomplete checkpoint is never visible, even after a kill
    _remove_hidden(folder)
    return final


def _write(agent: Agent, folder: Path, policy_version: int) -> None:
    for name, arrays in zip(ARRAYS, (agent_arrays(agent), buffer_arrays(agent)), strict=True):
        save_file(arrays, folder / name)
    manifest = {"format": FORMAT, **_identity(agent), "counters": counters(agent), "policy_version": policy_version}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2))
    (folder / SUMS).write_text("".join(f"{_sha256(folder / name)}  {name}\n" for name in (*ARRAYS, MANIFEST)))
    for name in (*ARRAYS, MANIFEST, SUMS, "."):
        _sync(folder / name)


def _remove_hidden(folder: Path) -> None:
    """Remove what is not finished or no longer wanted."""
    for path in folder.glob(f".{PREFIX}*"):
        shutil.rmtree(path, ignore_errors=True)


def list_checkpoints(folder: Path) -> list[Path]:
    """List the checkpoints of a folder, oldest first, without unfinished ones."""
    return sorted((path for path in folder.glob(f"{PREFIX}*") if path.is_dir()), key=_number)


def _number(path: Path) -> int:
    found = re.match(rf"{PREFIX}(\d+)", path.name)
    return int(found[1]) if found else 0


def newest_good(folder: Path) -> Path | None:
    """Find the newest checkpoint that passes its checks."""
    return _newest_good(folder, before=None)


def load(path: Path, device: str = "auto") -> Agent:
    """Make a learner from a checkpoint, exactly as it was."""
    manifest = check(path)
    try:
        config = Config.from_dict(manifest["config"])
    except InvalidParameter as reason:
        raise CheckpointError(path, f"its settings are not usable here, {reason}") from reason
    agent = make_agent(config, manifest["obs_dim"], manifest["act_dim"], manifest["seed"], device)
    restore(agent, path)
    return agent


def restore(agent: Agent, path: Path) -> int:
    """Restore a learner with the same settings and sizes; otherwise it does not change.

    Returns the version of the newest policy when it was written.
    """
    manifest = check(path)
    _require_same_settings(agent, path, manifest)
    try:
        arrays: Arrays = {}
        for name in ARRAYS:
            arrays.update(load_file(path / name))
        check_state(agent, arrays, manifest["counters"])
    except (OSError, SafetensorError, UnfitState) as reason:
        raise CheckpointError(path, f"cannot be restored, {reason}") from reason
    restore_state(agent, arrays, manifest["counters"])
    return int(manifest["policy_version"])


def restore_newest(agent: Agent, folder: Path, warn: Callable[[str], None]) -> tuple[Path, int] | None:
    """Restore the newest usable checkpoint and return it with its policy version; None if there are none.

    Damaged ones are skipped with a warning. If none is usable, or the settings differ, it is refused: a fresh start
    would overwrite the run.
    """
    checkpoints = list_checkpoints(folder)
    for path in reversed(checkpoints):
        try:
            return path, restore(agent, path)
        except SettingsDiffer:
            raise
        except CheckpointError as reason:
            warn(str(reason))
    if checkpoints:
        raise NoneUsable(folder)
    return None


def check(path: Path) -> dict[str, Any]:
    """Verify a checkpoint without loading it, and return its manifest."""
    try:
        return _verify(path)
    except _Damaged as problem:
        raise CheckpointError(path, str(problem)) from problem


def _verify(path: Path) -> dict[str, Any]:
    try:
        content = (path / MANIFEST).read_bytes()
        manifest: dict[str, Any] = json.loads(content)
    except OSError as reason:
        raise _Damaged(f"{MANIFEST} cannot be read ({reason.strerror})") from reason
    except (ValueError, RecursionError) as reason:
        raise _Damaged(f"{MANIFEST} is not JSON") from reason
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise _Damaged(f"{MANIFEST} is not of format {FORMAT}")
    _verify_sums(path)
    absent = KEYS - set(manifest)
    if absent:
        raise _Damaged(f"{MANIFEST} has no {sorted(absent)[0]}")
    return manifest


def _verify_sums(path: Path) -> None:
    try:
        lines = (path / SUMS).read_text().splitlines()
    except (OSError, ValueError) as reason:
        raise _Damaged(f"{SUMS} cannot be read") from reason
    for name in (*ARRAYS, MANIFEST):
        try:
            digest = _sha256(path / name)
        except FileNotFoundError as reason:
            raise _Damaged(f"{name} is missing") from reason
        except OSError as reason:
            raise _Damaged(f"{name} cannot be read ({reason.strerror})") from reason
        if f"{digest}  {name}" not in lines:
            raise _Damaged(f"{name} is damaged, its SHA-256 is not the one in {SUMS}")


def _newest_good(folder: Path, before: Path | None) -> Path | None:
    for path in reversed(list_checkpoints(folder)):
        if before is None or _number(path) < _number(before):
            try:
                _verify(path)
            except _Damaged:
                continue
            return path
    return None


def _require_same_settings(agent: Agent, path: Path, manifest: dict[str, Any]) -> None:
    mine = _identity(agent)
    for name in ("obs_dim", "act_dim", *mine["config"]):
        theirs = manifest["config"].get(name) if name in mine["config"] else manifest[name]
        own = mine["config"].get(name, mine.get(name))
        if theirs != own:
            raise SettingsDiffer(path, f"{name} is {theirs!r} in it and {own!r} in this run: start with the same")


def _identity(agent: Agent) -> dict[str, Any]:
    return {"config": agent.config.to_dict(), "obs_dim": agent.obs_dim, "act_dim": agent.act_dim, "seed": agent.seed}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
