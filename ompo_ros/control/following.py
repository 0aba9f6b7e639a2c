"""Notices an arm that does not do what it is told: blocked, stopped by its own safety, or frozen behind fresh messages.

Commands start at the measured position, so an arm that stands still never falls far behind: its motion has to be
compared with the commanded one over a while.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import INCREMENT

_WINDOW: Final = 0.5  # s
_MOTION: Final = 1.2 * INCREMENT  # rad commanded within the window that must move an arm; a held action is less
_RESPONSE: Final = 0.03  # share of it that the weakest healthy drive answers with
_PUSH: Final = 0.9 * INCREMENT  # rad ahead of the arm all the time: nearly a full action, and more than any bias held
_STILL: Final = 1e-3  # rad within which an arm has not moved


class Following:
    """Compares where the driver was sent with where the arm was measured, over the last half second."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, FloatArray, FloatArray]] = deque()

    def forget(self) -> None:
        """Begin a new window: the arm stood, or was moved by others."""
        self._seen.clear()

    def doubt(self, now: float, reference: FloatArray, measured: FloatArray) -> str:
        """Say what is wrong with the arm's answer to its commands, if anything is."""
        if self._seen and not 0.0 <= now - self._seen[-1][0] <= _WINDOW:
            self.forget()
        self._seen.append((now, reference, measured))
        if now - self._seen[0][0] < _WINDOW:
            return ""
        references = np.array([reference for _, reference, _ in self._seen])
        positions = np.array([measured for _, _, measured in self._seen])
        self._seen.popleft()
        told, moved = np.ptp(references, axis=0), np.ptp(positions, axis=0)
        unmoved = (told > _MOTION) & (moved < _RESPONSE * told)
        if unmoved.any():
            joint = int(np.argmax(np.where(unmoved, told, 0.0)))
            return f"joint {joint + 1} was sent {told[joint]:.2f} rad and moved {moved[joint]:.4f}: blocked or stopped?"
        pushed = np.abs(references - positions).min(axis=0)
        if moved.max() < _STILL and pushed.max() > _PUSH:
            return f"joint {int(pushed.argmax()) + 1} pushes and nothing moves: blocked or stopped?"
        return ""
