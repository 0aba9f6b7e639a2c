"""Detects an arm that does not follow: blocked, stopped by its own safety, or frozen behind fresh messages.

Commands start at the measured position, so a blocked arm never falls far behind. Its motion is therefore compared
with the commanded one over half a second.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import INCREMENT

_WINDOW: Final = 0.5  # s
_MOTION: Final = 1.2 * INCREMENT  # rad commanded within the window that must move an arm; holding a bias is less
_RESPONSE: Final = 0.03  # share of it that the weakest healthy drive moves
_PUSH: Final = 0.9 * INCREMENT  # rad of constant lead: nearly a full action, and more than any bias
_STILL: Final = 1e-3  # rad; a smaller motion counts as none


class Following:
    """Compares commanded with measured positions over the last half second."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, FloatArray, FloatArray]] = deque()

    def forget(self) -> None:
        """Begin a new window, after the arm stood or was moved by others."""
        self._seen.clear()

    def doubt(self, now: float, reference: FloatArray, measured: FloatArray) -> str:
        """Say what is wrong with the arm's response, or return ""."""
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
