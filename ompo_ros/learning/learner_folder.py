"""A learner's share of a run folder: one learner at a time, its checkpoints, and the number of its newest policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ompo_ros.files import InUse, lock, write_whole
from ompo_ros.learning import checkpoint
from ompo_ros.learning.agent import Agent

CHECKPOINTS, LOCK, VERSION = "checkpoints", "learner.lock", "policy_version.json"
MAX_VERSION = 2**31  # in a file; a greater one is damage
LEAP = 100_000  # versions skipped where the last one is not known: a version means one policy for ever


class UnusableRun(ValueError):
    """A folder this learner cannot work in; the message says what the user can do."""


class LearnerFolder:
    """Held while the process lives; `version` is the newest policy's, 0 for none."""

    def __init__(self, folder: Path, keep: int, warn: Callable[[str], None]) -> None:
        self.path, self._keep, self._warn = folder, keep, warn
        self.version = 0
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = lock(folder / LOCK)
        except InUse as error:
            raise UnusableRun(f"{error}, perhaps a running learner: choose another run_dir") from error

    def close(self) -> None:
        """Let another learner have the folder."""
        self._lock.close()

    def begin(self, agent: Agent, resume: bool) -> Path | None:
        """Put the learner where the newest usable checkpoint was and give that one; None for a fresh start.

        A run that is there already is gone on with or refused, never overwritten.
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
        """Write a checkpoint; raises OSError if the disk does not take it, and the older ones stay."""
        return checkpoint.save(agent, self.path / CHECKPOINTS, self._keep, self.version)

    def next_version(self) -> int:
        """Take the next policy's number, on the disk before anybody hears of it; raises OSError if that fails."""
        write_whole(self.path / VERSION, json.dumps({"version": self.version + 1}).encode())
        self.version += 1
        return self.version

    def _newest_version(self, known: int) -> int:
        """The greatest version of checkpoint and file; where the file is no help, one that was surely never used."""
        path = self.path / VERSION
        if not path.exists() and not known:
            return 0
        try:
            version = json.loads(path.read_bytes())["version"]
            if type(version) is not int or not 0 <= version <= MAX_VERSION:
                raise ValueError(f"version is {version!r}")
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            self._warn(f"{path} is not usable ({error}): policies go on from version {known + LEAP}")
            return known + LEAP
        return max(known, version)
