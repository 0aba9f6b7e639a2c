"""Curves of a run of any length in bounded memory."""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray

_POINTS: Final = 600  # at most; then every second one is dropped, and new ones come half as often


class History:
    """Values of some curves over one axis; a long run keeps its whole length and loses only detail."""

    def __init__(self, curves: int) -> None:
        self._rows: list[tuple[float, ...]] = []
        self._width = curves + 1
        self._every = 1
        self._skipped = 0

    def add(self, x: float, *values: float) -> None:
        """Note a point; NaN where a curve has none."""
        self._skipped += 1
        if self._skipped < self._every:
            return
        self._skipped = 0
        self._rows.append((x, *values))
        if len(self._rows) > _POINTS:
            self._rows = self._rows[::2]
            self._every *= 2

    @property
    def columns(self) -> tuple[FloatArray, ...]:
        """The axis, then the curves; at least one point, since a chart cannot do without."""
        rows = self._rows or [(0.0, *[np.nan] * (self._width - 1))]
        return tuple(np.array(rows, dtype=np.float64).T)


class Recent:
    """The mean of the last few."""

    def __init__(self, count: int) -> None:
        self._values: deque[float] = deque(maxlen=count)

    def add(self, value: float) -> float:
        self._values.append(value)
        return sum(self._values) / len(self._values)
