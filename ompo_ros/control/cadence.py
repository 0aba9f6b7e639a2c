"""Loop timing: target and actual rate, late ticks, the worst one, and run times of parts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

LATE: Final = 0.1  # share of the period by which a tick counts as late


@dataclass(frozen=True)
class CadenceReport:
    """Statistics of the ticks since the last report."""

    target_rate: float  # Hz
    actual_rate: float
    ticks: int
    late: int
    worst: float  # s between two ticks


class Cadence:
    """Counts ticks against their period; a report restarts the statistics, the totals continue."""

    def __init__(self, rate: float) -> None:
        self._period = 1.0 / rate
        self._last: float | None = None
        self._ticks = 0
        self._late = 0
        self._worst = 0.0
        self._elapsed = 0.0
        self.total_ticks = 0
        self.total_late = 0

    def tick(self, now: float) -> None:
        """Record a tick at `now`, in seconds of a monotonic clock."""
        if self._last is not None:
            gap = now - self._last
            late = gap > self._period * (1.0 + LATE)
            self._ticks += 1
            self._late += late
            self.total_ticks += 1
            self.total_late += late
            self._worst = max(self._worst, gap)
            self._elapsed += gap
        self._last = now

    def report(self) -> CadenceReport:
        """Summarize the ticks since the last report."""
        rate = self._ticks / self._elapsed if self._elapsed > 0.0 else 0.0
        report = CadenceReport(1.0 / self._period, rate, self._ticks, self._late, self._worst)
        self._ticks, self._late, self._worst, self._elapsed = 0, 0, 0.0, 0.0
        return report


class Durations:
    """Durations of the last 1,000 runs of a part."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=1000)

    def add(self, seconds: float) -> None:
        self._seconds.append(seconds)

    def percentile(self, percent: float) -> float:
        """The given percentile in seconds; 0 before the first run."""
        return float(np.percentile(self._seconds, percent)) if self._seconds else 0.0
