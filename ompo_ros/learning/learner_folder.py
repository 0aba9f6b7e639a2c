"""A learner's part of a run folder: its lock, its checkpoints and the number of its newest policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ompo_ros.files import InUse, lock, write_whole
from ompo_ros.learning import checkpoint
from ompo_ros.learning.agent import Agent

CHECKPOINTS, LOCK, VERSION = "checkpoints", "learner.lock", "policy_version.json"
MAX_VERSION = 2**31  # largest in a file; beyond it the file is damaged
LEAP = 100_000  # versions skipped if the last one is unknown, so that no version is used twice


class UnusableRun(ValueError):
    """A folder this learner cannot work in; the message says what the user can do."""


class LearnerFolder:
    """Locked while the process lives; `version` is the newest policy's, 0 for none."""

    def __init__(self, folder: Path, keep: int, warn: Callable[[str], None]) -> None:
        self.path, self._keep, self._warn = folder, keep, warn
        self.version = 0
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = lock(folder / LOCK)
        except InUse as error:
            raise UnusableRun(f"{error}, perhaps a running learner: choose another run_dir") from error

    def close(self) -> None:
        """Release the folder for another learner."""
        self._lock.close()

    def begin(self, agent: Agent, resume: bool) -> Path | None:
        """Restore the newest usable checkpoint and return it; None for a fresh start.

        An existing run is resumed or refused, never overwritten.
        """
        checkpoints = self.path / CHECKPOINTS
        if not resume and checkpoint.list_checkpoints(checkpoints):
            raise UnusableRun(f"{self.path} holds a run already: resume it, or choose another run_dir")
        try:
            path, version = checkpoint.restore_newest(agent, checkpoints, self._warn) or (None, 0)
        except checkpoint.CheckpointError as error:
            raise UnusableRun(str(error)) from error
        self.version = self._newest_version(version)
        return path

    def save(self, agent: Agent) -> Path:
        """Write a checkpoint; raises OSError if the disk is full, and keeps the older ones."""
        return checkpoint.save(agent, self.path / CHECKPOINTS, self._keep, self.version)

    def next_version(self) -> int:
        """Reserve the next policy's number on the disk before it is published; raises OSError if that fails."""
        write_whole(self.path / VERSION, json.dumps({"version": self.version + 1}).encode())
        self.version += 1
        return self.version

    def _newest_version(self, known: int) -> int:
        """The greater version of checkpoint and file; if the file is unusable, one that was certainly never used."""
        path = self.path / VERSION
        if not path.exists() and not known:
            return 0
        try:
            version = json.loads(path.read_bytes())["version"]
            if type(version) is not int or not 0 <= version <= MAX_VERSION:
                raise ValueError(f"version is {version!r}")
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            self._warn(f"{path} is not usable ({error}): policies continue from version {known + LEAP}")
            return known + LEAP
        return max(known, version)
