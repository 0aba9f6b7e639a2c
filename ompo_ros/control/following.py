"""Detects an arm that does not follow: blocked, stopped by its own safety, or frozen behind fresh messages.

Commands start at the measured position, so a blocked arm never falls far behind. Its motion is therefore compared
with the commanded one over half a second.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray, end_effector_position
from ompo_ros.task.robot import JOINTS
from ompo_ros.task.tasks import INCREMENT, Task

_WINDOW: Final = 0.5  # s
_MOTION: Final = 1.2 * INCREMENT  # rad commanded within the window that must move an arm; holding a bias is less
_RESPONSE: Final = 0.03  # share of it that the weakest healthy drive moves
_PUSH: Final = 0.9 * INCREMENT  # rad of constant lead: nearly a full action
_STILL: Final = 1e-3  # rad; a smaller motion counts as none
_SLOW: Final = 0.1  # rad/s; an arm that is sent home and moves less is at rest there
_MEMORY: Final = 2.0  # s of rest over which its lead is averaged
# m that a hand is led farther than it moves. Pushing 3 kg at a friction of 1 never took as much in 100 episodes; a cube
# that cannot be moved did in all of the script's, and in fewer than half of the policy's (benchmarks/contact.py). Only
# tasks with contact are judged by it: a soft arm under a load may hang as far behind in free air.
_PRESS: Final = 0.03


class Following:
    """Compares commanded with measured positions over the last half second."""

    def __init__(self, task: Task) -> None:
        self._touches = task.has_cube
        self._seen: deque[tuple[float, FloatArray, FloatArray, FloatArray]] = deque()
        self._by_policy = False
        self._rest_lead: FloatArray = np.zeros(JOINTS)  # rad: a biased drive rests beside its setpoint
        self._rested = 0.0  # s over which that was averaged

    def forget(self) -> None:
        """Begin a new window, after the arm stood or was moved by others."""
        self._seen.clear()

    def expect_lead(self, lead: FloatArray) -> None:
        """Take the lead (7,) in rad that holds the arm still, where it is known without a rest at home."""
        self._rest_lead = lead

    def doubt(
        self,
        now: float,
        reference: FloatArray,
        measured: FloatArray,
        *,
        by_policy: bool = True,
        at_home: bool = False,
    ) -> str:
        """Say what is wrong with the arm's response, or return "".

        A policy pushes by as much as it leads the arm farther than one is led that rests at home.
        """
        if by_policy != self._by_policy or (self._seen and not 0.0 <= now - self._seen[-1][0] <= _WINDOW):
            self._by_policy = by_policy
            self.forget()
        if at_home and self._seen:
            self._average(now, reference, measured)
        self._seen.append((now, reference, measured, self._rest_lead))
        if now - self._seen[0][0] < _WINDOW:
            return ""
        references, positions, rest_leads = (np.array(column) for column in list(zip(*self._seen, strict=True))[1:])
        self._seen.popleft()
        doubt = _unmoved(references, positions)
        if by_policy and not doubt:
            references -= rest_leads
            doubt = _pushing(references, positions) or (_pressing(references, positions) if self._touches else "")
        return doubt

    def _average(self, now: float, reference: FloatArray, measured: FloatArray) -> None:
        """Average the lead of an arm at rest at home, over several rests, since one may be too short to settle."""
        last, _, position, _ = self._seen[-1]
        passed = now - last
        if np.abs(measured - position).max() < _SLOW * passed:
            self._rested = min(self._rested + passed, _MEMORY)
            lead = np.clip(reference - measured, -INCREMENT, INCREMENT)  # a larger one presses on something
            self._rest_lead = self._rest_lead + (lead - self._rest_lead) * (passed / self._rested)


def _unmoved(references: FloatArray, positions: FloatArray) -> str:
    """A joint that was sent somewhere and stays."""
    told, moved = np.ptp(references, axis=0), np.ptp(positions, axis=0)
    unmoved = (told > _MOTION) & (moved < _RESPONSE * told)
    if not unmoved.any():
        return ""
    joint = int(np.argmax(np.where(unmoved, told, 0.0)))
    return f"joint {joint + 1} was sent {told[joint]:.2f} rad and moved {moved[joint]:.4f}: blocked or stopped?"


def _pushing(references: FloatArray, positions: FloatArray) -> str:
    """A joint that is led by nearly a full action, while the whole arm stands."""
    pushed = np.abs(references - positions).min(axis=0)
    if np.ptp(positions, axis=0).max() > _STILL or pushed.max() < _PUSH:
        return ""
    return f"joint {int(pushed.argmax()) + 1} pushes and nothing moves: blocked or stopped?"


def _pressing(references: FloatArray, positions: FloatArray) -> str:
    """A hand that is led somewhere and hardly moves, although single joints give way."""
    sent, hand = end_effector_position(np.stack((references, positions)))
    led, moved = np.linalg.norm((sent - hand).mean(axis=0)), np.linalg.norm(np.ptp(hand, axis=0))
    if led - moved < _PRESS:
        return ""
    return f"the hand is led by {1e3 * led:.0f} mm and moves {1e3 * moved:.0f}: what does it press against?"
