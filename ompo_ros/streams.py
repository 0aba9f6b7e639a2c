"""Bookkeeping of numbered streams: reliable transport still loses when a history is full, so we count."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class StreamCount:
    """What came of one collector's run."""

    run: int
    expected: int  # the next sequence number
    received: int = 0
    lost: int = 0


class StreamCounts:
    """Counts received and lost batches of every collector; a collector's restart begins a new run, not a gap."""

    def __init__(self) -> None:
        self._streams: dict[str, StreamCount] = {}
        self._lost_before = 0
        self._received_before = 0

    def count(self, collector_id: str, run: int, sequence: int) -> int:
        """Enters one batch and returns how many were lost right before it."""
        stream = self._streams.get(collector_id)
        if stream is None or stream.run != run:
            if stream is not None:
                self._lost_before += stream.lost
                self._received_before += stream.received
            # Whoever joins late has lost nothing: a run counts from the first batch seen.
            stream = self._streams[collector_id] = StreamCount(run, sequence)
        gap = max(0, sequence - stream.expected)
        stream.lost += gap
        stream.received += 1
        stream.expected = max(stream.expected, sequence + 1)
        return gap

    @property
    def received(self) -> int:
        return self._received_before + sum(stream.received for stream in self._streams.values())

    @property
    def lost(self) -> int:
        return self._lost_before + sum(stream.lost for stream in self._streams.values())

    def by_collector(self) -> dict[str, StreamCount]:
        return dict(self._streams)
