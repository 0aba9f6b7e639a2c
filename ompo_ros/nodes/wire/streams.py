"""Counts numbered streams: reliable transport still loses messages when a history is full."""

from __future__ import annotations

from dataclasses import dataclass

from ompo_ros.transitions import InvalidData

MAX_COLLECTORS = 256  # limits memory, since senders choose their names freely
MAX_GAP = 2**32  # batches; no sender makes as many between two messages


@dataclass
class StreamCount:
    """Counts of one collector's session."""

    session: int
    expected: int  # the next sequence number
    received: int = 0
    lost: int = 0
    refused: int = 0  # since the last valid batch: they arrived, so they are not lost


class StreamCounts:
    """Counts received and lost batches of every collector; a collector's restart begins a new session and is no gap."""

    def __init__(self) -> None:
        self._streams: dict[str, StreamCount] = {}
        self._lost_before = 0
        self._received_before = 0

    def gap(self, collector_id: str, session: int, sequence: int) -> int:
        """How many batches were lost right before this one; raises InvalidData if it cannot be counted."""
        stream = self._streams.get(collector_id)
        if stream is None:
            if len(self._streams) >= MAX_COLLECTORS:
                raise InvalidData("collector_id", f"is new, but {MAX_COLLECTORS} collectors are counted already")
            return 0
        if stream.session != session:
            return 0  # A late receiver has lost nothing: a session counts from the first batch seen.
        ahead = sequence - stream.expected
        if ahead > MAX_GAP:
            raise InvalidData("sequence", f"is {sequence}, an impossible {ahead} ahead of the last one")
        return max(0, ahead - stream.refused)

    def count(self, collector_id: str, session: int, sequence: int) -> int:
        """Record one valid batch and return how many were lost right before it; raises as `gap` does."""
        gap = self.gap(collector_id, session, sequence)
        stream = self._streams.get(collector_id)
        if stream is None or stream.session != session:
            if stream is not None:
                self._lost_before += stream.lost
                self._received_before += stream.received
            stream = self._streams[collector_id] = StreamCount(session, sequence)
        stream.lost += gap
        stream.received += 1
        stream.refused = 0
        stream.expected = max(stream.expected, sequence + 1)
        return gap

    def refuse(self, collector_id: str, session: int) -> None:
        """Record an unusable batch; nothing else in it is used."""
        stream = self._streams.get(collector_id)
        if stream is not None and stream.session == session:
            stream.refused += 1

    @property
    def received(self) -> int:
        return self._received_before + sum(stream.received for stream in self._streams.values())

    @property
    def lost(self) -> int:
        return self._lost_before + sum(stream.lost for stream in self._streams.values())

    def by_collector(self) -> dict[str, StreamCount]:
        return dict(self._streams)
