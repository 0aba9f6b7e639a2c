"""Policies on disk: versions, two channels, and every move with its reason; whole after a kill at any instruction.

`registry.json` is the truth and is replaced atomically; a policy's file is complete on disk before the truth names it,
and is deleted only after the truth has forgotten it. Files carry their SHA-256 in their names.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import IO

from ompo_ros.files import InUse, lock, write_whole
from ompo_ros.policy.decode import DecodeError
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.files import Policy, read_policy
from ompo_ros.policy.registry_state import CHANNELS, LATEST, STABLE, Entry, Move, State

STATE, LOCK, POLICIES = "registry.json", "lock", "policies"


class RegistryError(RuntimeError):
    """The registry cannot do what was asked; the message says why and what would work."""


class DamagedPolicy(RegistryError):
    """One policy's file is not what was registered; the others are untouched."""


class Registry:
    """One folder; a writer has it alone, readers may look at any time."""

    def __init__(self, folder: Path, keep: int = 20, *, read_only: bool = False) -> None:
        """Open or begin a registry that holds the newest `keep` policies and all that are in use."""
        if keep < 1:
            raise ValueError(f"keep: {keep} policies, at least 1 is needed")
        self._folder, self._keep, self._read_only = folder, keep, read_only
        self.damaged: dict[int, str] = {}  # what is wrong, by version
        self.warnings: list[str] = []
        if not read_only:
            (folder / POLICIES).mkdir(parents=True, exist_ok=True)
            self._lock = _lock(folder / LOCK)
        elif not (folder / STATE).is_file():
            raise RegistryError(f"{folder} holds no {STATE}, so it is no registry")
        self._state = self._read_state()
        self._find_damage()
        if not read_only:
            self._leave_damaged()
            self._delete_unnamed_files()

    def close(self) -> None:
        """Let another process write."""
        if not self._read_only:
            self._lock.close()

    # -- reading ------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is registered, oldest first."""
        return self._state.entries

    @property
    def moves(self) -> tuple[Move, ...]:
        """How the channels came to where they are, oldest first."""
        return self._state.moves

    def active(self, channel: str) -> int:
        """The version a channel stands on, 0 for none."""
        return self._state.active(_known(channel))

    def pinned(self, channel: str) -> bool:
        """Whether a user holds the channel where it is."""
        return self._state.pinned(_known(channel))

    def former(self, channel: str) -> int:
        """The whole version a channel stood on before its present one, 0 for none."""
        whole = (version for version in self._state.formers(_known(channel)) if version not in self.damaged)
        return next(whole, 0)

    def load(self, version: int) -> Policy:
        """A policy, checked from its first to its last byte."""
        entry = self._state.find(version)
        if entry is None:
            have = ", ".join(str(entry.version) for entry in self.entries) or "none"
            raise RegistryError(f"policy {version} is not in the registry; it holds: {have}")
        try:
            return read_policy((self._folder / POLICIES / entry.file_name).read_bytes(), sha256=entry.sha256)
        except (OSError, RefusedPolicy) as error:
            self.damaged[version] = str(error)
            raise DamagedPolicy(f"policy {version} is damaged and refused: {error}") from error

    # -- writing ------------------------------------------------------------------------------------------------

    def add(self, policy: Policy, note: str, *, channel: str | None = None) -> Entry:
        """Keep a policy and, unless a user holds `channel`, move that there: one step, done whole or not at all."""
        version, manifest, now = policy.version, policy.manifest, time.time()
        old = self._state.find(version)
        if old and old.weights_sha256 != manifest.weights_sha256 and self._must_stay(version):
            raise RegistryError(
                f"policy {version} is in use with other weights: resume that learner or change the folder"
            )
        entry = Entry(version, policy.sha256, manifest.weights_sha256, now, note, manifest.evaluation)
        write_whole(self._folder / POLICIES / entry.file_name, policy.onnx)
        state = self._state.with_entry(entry)
        if channel is not None and not self.pinned(channel):
            state = state.with_move(channel, version, note, now)
        self._commit(state)
        self.damaged.pop(version, None)
        return entry

    def move(self, channel: str, version: int, reason: str, *, pin: bool = False) -> int:
        """Put a channel on a registered, whole policy; gives the version it stood on before."""
        previous = self.active(channel)
        self.load(version)
        self._commit(self._state.with_move(channel, version, reason, time.time(), pin=pin))
        return previous

    # -- inside -------------------------------------------------------------------------------------------------

    def _must_stay(self, version: int) -> bool:
        """Whether people rely on this very policy."""
        return version == self.active(STABLE) or (self.pinned(LATEST) and version == self.active(LATEST))

    def _commit(self, state: State) -> None:
        """Make a state the truth, without what need not be kept."""
        if self._read_only:
            raise RegistryError(f"{self._folder} was opened for reading only")
        state = state.pruned(self._keep)
        write_whole(self._folder / STATE, state.to_json())
        forgotten = {entry.file_name for entry in self.entries} - {entry.file_name for entry in state.entries}
        self._state = state
        for name in forgotten:
            (self._folder / POLICIES / name).unlink(missing_ok=True)

    def _read_state(self) -> State:
        path = self._folder / STATE
        try:
            return State.from_json(path.read_bytes())
        except FileNotFoundError:
            return State()
        except (OSError, DecodeError) as error:
            self.warnings.append(f"{path} is damaged ({error}): channels start anew from the policies found beside it")
            return self._state_from_files()

    def _state_from_files(self) -> State:
        """What the policies tell of themselves; `latest` is the newest, `stable` must be earned again."""
        state = State()
        for path in sorted((self._folder / POLICIES).glob("*-*.onnx"), key=lambda path: path.stat().st_mtime_ns):
            try:
                policy = read_policy(path.read_bytes(), sha256=path.stem.split("-")[1])
            except RefusedPolicy as error:
                self.warnings.append(f"{path.name} is refused: {error}")
                continue
            stamp, manifest = path.stat().st_mtime, policy.manifest
            note = f"found when {STATE} was damaged"
            state = state.with_entry(
                Entry(policy.version, policy.sha256, manifest.weights_sha256, stamp, note, manifest.evaluation)
            )
            state = state.with_move(LATEST, policy.version, note, stamp)
        return state

    def _find_damage(self) -> None:
        for entry in self.entries:
            try:
                onnx = (self._folder / POLICIES / entry.file_name).read_bytes()
            except OSError as error:
                self.damaged[entry.version] = f"its file cannot be read ({error.strerror})"
            else:
                if hashlib.sha256(onnx).hexdigest() != entry.sha256:
                    self.damaged[entry.version] = "its file's SHA-256 is not the one registered"
        self.warnings += [f"policy {version} is damaged: {problem}" for version, problem in self.damaged.items()]

    def _leave_damaged(self) -> None:
        """Move channels off damaged policies, back to the newest whole one they stood on."""
        for channel in CHANNELS:
            version = self.active(channel)
            if version in self.damaged and (former := self.former(channel)):
                self.move(channel, former, f"policy {version} is damaged: {self.damaged[version]}")

    def _delete_unnamed_files(self) -> None:
        """Remove what a killed writer left behind."""
        named = {entry.file_name for entry in self.entries}
        for path in (self._folder / POLICIES).iterdir():
            if path.name not in named:
                path.unlink()


def _known(channel: str) -> str:
    if channel not in CHANNELS:
        raise RegistryError(f"channel {channel!r} is unknown, choose {' or '.join(CHANNELS)}")
    return channel


def _lock(path: Path) -> IO[bytes]:
    try:
        return lock(path)
    except InUse as error:
        raise RegistryError(f"{error}, perhaps a running policy_server") from error
