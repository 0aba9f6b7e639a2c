"""What a registry's folder holds: entries, the moves of its two channels, and which files in it are ours."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.files import UnfitFile, read_bounded
from ompo_ros.policy.artifact import CheckedPolicy, policy_bytes, read_policy
from ompo_ros.policy.errors import RefusedPolicy, RegistryError
from ompo_ros.policy.records import DecodeError, decode
from ompo_ros.task.acting import Evaluation

LATEST, STABLE = "latest", "stable"
CHANNELS = (LATEST, STABLE)
FORMAT = 1
MOVES_KEPT = 100  # of each channel
FORMER_STABLES_KEPT = 3  # to fall back to
BEST_KEPT = 3  # to choose a stable one from, while there is none
STATE, LOCK, POLICIES = "registry.json", "lock", "policies"
MAX_STATE = 33_554_432  # bytes of registry.json, enough for the greatest `keep`
_POLICY = re.compile(r"[0-9]{10}-([0-9a-f]{64})\.onnx")
_UNFINISHED = re.compile(r"\.[0-9]{10}-[0-9a-f]{64}\.onnx\.unfinished")


@dataclass(frozen=True)
class Entry:
    """One registered policy."""

    version: int
    sha256: str
    weights_sha256: str
    stamp: float  # seconds since the epoch
    note: str
    evaluation: Evaluation | None

    @classmethod
    def of(cls, policy: CheckedPolicy, stamp: float, note: str) -> Entry:
        manifest = policy.manifest
        return cls(policy.version, policy.sha256, manifest.weights_sha256, stamp, note, manifest.evaluation)

    @property
    def file_name(self) -> str:
        return f"{self.version:010d}-{self.sha256}.onnx"


@dataclass(frozen=True)
class Move:
    """A channel's step from one policy to another; 0 is none."""

    channel: str
    version: int
    previous: int
    pinned: bool
    stamp: float
    reason: str


@dataclass(frozen=True)
class State:
    """The registry at one moment; every change is a new one."""

    format: int = FORMAT
    entries: tuple[Entry, ...] = ()  # in the order they came
    moves: tuple[Move, ...] = ()  # oldest first

    def __post_init__(self) -> None:
        unknown = {move.channel for move in self.moves} - set(CHANNELS)
        if unknown:
            raise ValueError(f"channel {min(unknown)!r} is unknown")

    def find(self, version: int) -> Entry | None:
        return next((entry for entry in self.entries if entry.version == version), None)

    def active(self, channel: str) -> int:
        """The version a channel stands on, 0 for none."""
        move = self._last_move(channel)
        return move.version if move else 0

    def pinned(self, channel: str) -> bool:
        """Whether a user holds the channel where it is."""
        move = self._last_move(channel)
        return move is not None and move.pinned

    def formers(self, channel: str) -> list[int]:
        """Versions a channel stood on before and can return to, the last one first.

        Going back takes the newer ones out of the list, so that going back twice goes further back.
        """
        trail: list[int] = []
        for move in self.moves:
            if move.channel == channel:
                trail = trail[: trail.index(move.version)] if move.version in trail else trail
                trail.append(move.version)
        return [version for version in reversed(trail[:-1]) if self.find(version)]

    def with_entry(self, entry: Entry) -> State:
        """Add a policy; the same weights keep their place, other weights of that version are forgotten."""
        old = self.find(entry.version)
        if old and old.weights_sha256 == entry.weights_sha256:
            entries = tuple(entry if known is old else known for known in self.entries)
        else:
            entries = (*(known for known in self.entries if known is not old), entry)
        return dataclasses.replace(self, entries=entries)

    def with_move(self, channel: str, version: int, reason: str, stamp: float, *, pin: bool = False) -> State:
        move = Move(channel, version, self.active(channel), pin, stamp, reason)
        return dataclasses.replace(self, moves=(*self.moves, move))

    def pruned(self, keep: int) -> State:
        """Forget what is neither among the newest `keep`, nor in use, nor needed to fall back."""
        used = {self.active(channel) for channel in CHANNELS} | set(self.formers(STABLE)[:FORMER_STABLES_KEPT])
        used |= {entry.version for entry in self.entries[-keep:]}
        used |= set() if self.active(STABLE) else self._best()
        moves: list[Move] = []
        counts: Counter[str] = Counter()
        for move in reversed(self.moves):
            counts[move.channel] += 1
            if counts[move.channel] <= MOVES_KEPT:
                moves.insert(0, move)
        return State(FORMAT, tuple(entry for entry in self.entries if entry.version in used), tuple(moves))

    def to_json(self) -> bytes:
        return json.dumps(self, default=vars, sort_keys=True, allow_nan=False).encode()

    @classmethod
    def from_json(cls, text: bytes) -> State:
        """Read what `to_json` wrote; anything else raises DecodeError, but another release's is not damaged."""
        try:
            document = json.loads(text)
            written = document.get("format") if isinstance(document, dict) else None
            if isinstance(written, int) and written != FORMAT:
                raise RegistryError(f"format {written} is not {FORMAT}, the one this release reads")
            return decode(cls, document)
        except (ValueError, RecursionError) as error:
            raise DecodeError(str(error)) from error

    def _best(self) -> set[int]:
        """Versions of the evaluated policies that succeeded most often."""
        rated = [(entry.evaluation.success_rate, entry.version) for entry in self.entries if entry.evaluation]
        return {version for _, version in sorted(rated)[-BEST_KEPT:]}

    def _last_move(self, channel: str) -> Move | None:
        return next((move for move in reversed(self.moves) if move.channel == channel), None)


# -- the folder -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What a folder holds; `rebuilt` if only the policies say so."""

    state: State
    rebuilt: bool = False
    warnings: tuple[str, ...] = ()
    refused: tuple[Path, ...] = ()  # policies that a rebuilt state leaves out


def find_state(folder: Path) -> Found | None:
    """Read `registry.json`, or rebuild it from the policies; None where a registry can begin. Changes nothing."""
    path = folder / STATE
    try:
        return Found(State.from_json(read_bounded(path, MAX_STATE)))
    except FileNotFoundError:
        files, problem = _policy_files(folder), "is missing"
        if not files:
            _require_unused(folder)
            return None
    except DecodeError as error:
        files, problem = _policy_files(folder), f"is damaged ({error})"
        if not files:
            raise RegistryError(
                f"{path} is damaged or another program's ({error}) and no policies lie beside it: choose another folder"
            ) from error
    except (OSError, UnfitFile, RegistryError) as error:
        raise RegistryError(f"{path} cannot be read, so nothing in {folder} was touched: {error}") from error
    return _rebuild(files, f"{path} {problem}: rebuilt from the policies beside it, without a stable one")


def delete_leftovers(folder: Path, state: State) -> None:
    """Remove what a killed writer left behind: our own kind of file that the state does not name."""
    named = {entry.file_name for entry in state.entries}
    for path in _policies(folder):
        ours = _POLICY.fullmatch(path.name) or _UNFINISHED.fullmatch(path.name)
        if ours and path.name not in named and not path.is_dir():
            path.unlink()


def _require_unused(folder: Path) -> None:
    """Refuse a folder that somebody else uses."""
    known = {LOCK, POLICIES, f".{STATE}.unfinished"}
    odd = [path.name for path in folder.iterdir() if path.name not in known] if folder.exists() else []
    odd += [path.name for path in _policies(folder) if not _UNFINISHED.fullmatch(path.name)]
    if odd:
        raise RegistryError(
            f"{folder} is no registry: it holds {min(odd)!r} and no {STATE}; choose an empty or a new folder"
        )


def _rebuild(files: list[Path], problem: str) -> Found:
    """What the policies say of themselves; `latest` is the newest, `stable` must be earned or activated again."""
    state, warnings, refused = State(), [problem], []
    for path in files:
        try:
            stamp = path.stat().st_mtime
            policy = read_policy(policy_bytes(path), sha256=path.stem.split("-")[1])
        except OSError as error:
            raise RegistryError(
                f"{problem}, but {path.name} cannot be read ({error.strerror}): make it readable or move it away"
            ) from error
        except RefusedPolicy as error:
            refused.append(path)
            warnings.append(f"{path.name} is refused and set aside: {error}")
            continue
        note = f"found without {STATE}"
        state = state.with_entry(Entry.of(policy, stamp, note)).with_move(LATEST, policy.version, note, stamp)
    return Found(state, True, tuple(warnings), tuple(refused))


def _policy_files(folder: Path) -> list[Path]:
    """Files named as we name policies, in the order they were written."""
    files = [path for path in _policies(folder) if _POLICY.fullmatch(path.name)]
    return sorted(files, key=lambda path: (path.lstat().st_mtime_ns, path.name))


def _policies(folder: Path) -> list[Path]:
    return list((folder / POLICIES).iterdir()) if (folder / POLICIES).is_dir() else []
