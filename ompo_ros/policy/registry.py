"""Policies on disk: versions, two channels, and every move with its reason; whole after a kill at any instruction.

`registry.json` is the truth and is replaced atomically; a policy's file is complete on disk before the truth names it,
and is deleted only after the truth has forgotten it. Files carry their SHA-256 in their names.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ompo_ros.files import InUse, lock, write_whole
from ompo_ros.policy.artifact import CheckedPolicy, policy_bytes, read_policy
from ompo_ros.policy.errors import DamagedPolicy, RefusedPolicy, RegistryError, UnreadablePolicy
from ompo_ros.policy.records import plain
from ompo_ros.policy.registry_state import (
    CHANNELS,
    LATEST,
    LOCK,
    POLICIES,
    STABLE,
    STATE,
    Entry,
    Found,
    Move,
    State,
    delete_leftovers,
    find_state,
)


@dataclass(frozen=True)
class ListedPolicy:
    """One policy as a list shows it."""

    version: int
    stamp: float
    channels: tuple[str, ...]
    pinned: bool
    success_rate: float | None
    episodes: int
    sha256: str
    note: str


class Registry:
    """One folder; a writer has it alone, readers may look at any time."""

    def __init__(self, folder: Path, keep: int = 20, *, read_only: bool = False) -> None:
        """Open or begin a registry that holds the newest `keep` policies and all that are in use."""
        if keep < 1:
            raise ValueError(f"keep: {keep} policies, at least 1 is needed")
        self._folder, self._keep, self._read_only = folder, keep, read_only
        self.damaged: dict[int, str] = {}  # what is wrong for good, by version
        self._unreadable: dict[int, str] = {}  # what was wrong when it was last read, by version
        found = find_state(folder)
        if read_only:
            if found is None:
                raise RegistryError(f"{folder} holds no {STATE} and no policies, so it is no registry")
            self._take(found)
            return
        (folder / POLICIES).mkdir(parents=True, exist_ok=True)
        self._lock = _lock(folder / LOCK)
        try:
            self._repair(find_state(folder))  # once more, now that nobody else can write
        except BaseException:
            self.close()
            raise

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

    def listing(self) -> list[ListedPolicy]:
        """Every policy as a user wants to see it, oldest first."""
        return [self._listed(entry) for entry in self.entries]

    def active(self, channel: str) -> int:
        """The version a channel stands on, 0 for none."""
        return self._state.active(_known(channel))

    def standing(self, channel: str) -> Entry | None:
        """The entry of the policy a channel stands on; its checksum changes when that version is learned again."""
        return self._state.find(self.active(channel))

    def pinned(self, channel: str) -> bool:
        """Whether a user holds the channel where it is."""
        return self._state.pinned(_known(channel))

    def former(self, channel: str) -> int:
        """The whole version a channel stood on before its present one, 0 for none."""
        formers = self._state.formers(_known(channel))
        return next((version for version in formers if not self.problem(version)), 0)

    def asked_for(self, channel: str, version: int) -> int:
        """The version a user means; 0 is the one before."""
        if not (meant := version or self.former(channel)):
            raise RegistryError(f"{channel} has no earlier policy to go back to")
        return meant

    def find(self, version: int) -> Entry | None:
        """The entry of a version, None if it is not kept."""
        return self._state.find(version)

    def problem(self, version: int) -> str:
        """What keeps a policy from being used, empty for nothing."""
        if version in self.damaged:
            return f"DAMAGED: {self.damaged[version]}"
        return f"UNREADABLE NOW: {self._unreadable[version]}" if version in self._unreadable else ""

    def load(self, version: int) -> CheckedPolicy:
        """A policy, checked from its first to its last byte."""
        entry = self._state.find(version)
        if entry is None:
            have = ", ".join(str(entry.version) for entry in self.entries) or "none"
            raise RegistryError(f"policy {version} is not in the registry; it holds: {have}")
        try:
            return read_policy(self._read(entry), sha256=entry.sha256)
        except RefusedPolicy as error:
            self.damaged[version] = str(error)
            raise DamagedPolicy(f"policy {version} is damaged and refused: {error}") from error

    # -- writing ------------------------------------------------------------------------------------------------

    def add(self, policy: CheckedPolicy, note: str, *, channel: str | None = None) -> Entry:
        """Keep a policy and, unless a user holds `channel`, move that there: one step, done whole or not at all."""
        self._require_writer()
        version, now, note = policy.version, time.time(), plain(note)
        entry, old = Entry.of(policy, now, note), self._state.find(version)
        if old and old.weights_sha256 != entry.weights_sha256 and self._must_stay(version):
            raise RegistryError(
                f"policy {version} is in use with other weights: resume that learner or change the folder"
            )
        state = self._state.with_entry(entry)
        if channel is not None and not self.pinned(channel):
            state = state.with_move(channel, version, note, now)
        write_whole(self._folder / POLICIES / entry.file_name, policy.onnx)
        try:
            self._commit(state)
        except OSError:
            delete_leftovers(self._folder, self._state)
            raise
        self.damaged.pop(version, None)
        self._unreadable.pop(version, None)
        return entry

    def move(self, channel: str, version: int, reason: str, *, pin: bool = False) -> int:
        """Put a channel on a registered, whole policy; gives the version it stood on before."""
        self._require_writer()
        previous = self.active(channel)
        self.load(version)
        self._commit(self._state.with_move(channel, version, plain(reason), time.time(), pin=pin))
        return previous

    # -- inside -------------------------------------------------------------------------------------------------

    def _listed(self, entry: Entry) -> ListedPolicy:
        channels = tuple(channel for channel in CHANNELS if self.active(channel) == entry.version)
        return ListedPolicy(
            version=entry.version,
            stamp=entry.stamp,
            channels=channels,
            pinned=any(self.pinned(channel) for channel in channels),
            success_rate=entry.evaluation.success_rate if entry.evaluation else None,
            episodes=entry.evaluation.episodes if entry.evaluation else 0,
            sha256=entry.sha256,
            note=self.problem(entry.version) or entry.note,
        )

    def _must_stay(self, version: int) -> bool:
        """Whether people rely on this very policy."""
        return version == self.active(STABLE) or (self.pinned(LATEST) and version == self.active(LATEST))

    def _require_writer(self) -> None:
        if self._read_only:
            raise RegistryError(f"{self._folder} was opened for reading only")

    def _take(self, found: Found) -> None:
        self._state, self.warnings = found.state, list(found.warnings)
        self._find_damage()

    def _repair(self, found: Found | None) -> None:
        """Take what was found, write what was not on disk, and leave what is damaged for good."""
        if found is None:
            found = Found(State())
            write_whole(self._folder / STATE, found.state.to_json())
        self._take(found)
        if found.rebuilt:
            self._keep_rebuilt(found)
        self._leave_damaged()
        delete_leftovers(self._folder, self._state)

    def _keep_rebuilt(self, found: Found) -> None:
        """Make a rebuilt state the truth, and set aside what it replaces or leaves out."""
        for path in found.refused:
            path.replace(path.with_name(f"{path.name}.refused"))
        with contextlib.suppress(FileNotFoundError):
            (self._folder / STATE).replace(self._folder / f"{STATE}.damaged")
        write_whole(self._folder / STATE, found.state.to_json())

    def _commit(self, state: State) -> None:
        """Make a state the truth, without what need not be kept."""
        state = state.pruned(self._keep)
        write_whole(self._folder / STATE, state.to_json())
        forgotten = {entry.file_name for entry in self.entries} - {entry.file_name for entry in state.entries}
        self._state = state
        for name in forgotten:
            with contextlib.suppress(OSError):  # the next opening deletes it
                (self._folder / POLICIES / name).unlink(missing_ok=True)

    def _read(self, entry: Entry) -> bytes:
        """A policy's bytes; only a file that is gone, or unfit to be one, is damaged for good."""
        try:
            onnx = policy_bytes(self._folder / POLICIES / entry.file_name)
        except FileNotFoundError as error:
            raise RefusedPolicy("its file is missing") from error
        except OSError as error:
            self._unreadable[entry.version] = str(error.strerror)
            raise UnreadablePolicy(
                f"policy {entry.version} cannot be read now ({error.strerror}): make its file readable and try again, "
                f"or move the channel that stands on it"
            ) from error
        self._unreadable.pop(entry.version, None)
        return onnx

    def _find_damage(self) -> None:
        for entry in self.entries:
            try:
                if hashlib.sha256(self._read(entry)).hexdigest() != entry.sha256:
                    self.damaged[entry.version] = "its file's SHA-256 is not the one registered"
            except RefusedPolicy as error:
                self.damaged[entry.version] = str(error)
            except UnreadablePolicy as error:
                self.warnings.append(str(error))
        self.warnings += [f"policy {version} is damaged: {problem}" for version, problem in self.damaged.items()]

    def _leave_damaged(self) -> None:
        """Move channels off damaged policies, back to the newest whole one they stood on."""
        for channel in CHANNELS:
            version = self.active(channel)
            if version in self.damaged and (former := self.former(channel)):
                self.move(channel, former, f"policy {version} is damaged: {self.damaged[version]}")


def _known(channel: str) -> str:
    if channel not in CHANNELS:
        raise RegistryError(f"channel {channel!r} is unknown, choose {' or '.join(CHANNELS)}")
    return channel


def _lock(path: Path) -> IO[bytes]:
    try:
        return lock(path)
    except InUse as error:
        raise RegistryError(f"{error}, perhaps a running policy_server") from error
