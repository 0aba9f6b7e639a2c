"""What a registry remembers beside the policies themselves: entries, and the moves of its two channels."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from dataclasses import dataclass

from ompo_ros.policy.decode import DecodeError, decode
from ompo_ros.policy.errors import RegistryError
from ompo_ros.policy.manifest import Evaluation

LATEST, STABLE = "latest", "stable"
CHANNELS = (LATEST, STABLE)
FORMAT = 1
MOVES_KEPT = 100  # of each channel
FORMER_STABLES_KEPT = 3  # to fall back to
BEST_KEPT = 3  # to choose a stable one from, while there is none


@dataclass(frozen=True)
class Entry:
    """One registered policy."""

    version: int
    sha256: str
    weights_sha256: str
    stamp: float  # seconds since the epoch
    note: str
    evaluation: Evaluation | None

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
