"""A source's share of the transitions that the learner wants, by the learner's own count."""

from __future__ import annotations

from typing import Final

_STILL: Final = 3  # statuses, about one a second, with the same count: what was sent has most likely arrived
_LONGEST: Final = 60  # statuses to wait at most, if what is sent never counts: the learner may be refusing it


class SourceShare:
    """Counts what was sent until the learner reports it.

    A learner that was killed resumes without what it had not saved, which the sources would believe to be there.
    """

    def __init__(self, num_sources: int) -> None:
        self._num_sources = num_sources
        self._reported: int | None = None  # of all sources
        self._budget = 0  # of all sources
        self._ours = 0.0
        self._still, self._patience = 0, _STILL

    def hear(self, source_steps: int, source_budget: int, *, all_sent: bool) -> None:
        """Take over the learner's count when the first one comes, when it falls, and when it stands still."""
        ours = source_steps / self._num_sources
        if source_steps != self._reported:
            self._patience = _STILL
        stands = all_sent and source_steps == self._reported
        self._still = self._still + 1 if stands else 0
        if self._reported is None or source_steps < self._reported:
            self._ours = ours
        elif self._still >= self._patience and self._ours > ours:
            self._ours, self._patience = ours, min(2 * self._patience, _LONGEST)
        self._reported, self._budget = source_steps, source_budget

    def count(self, steps: int) -> None:
        """Count transitions that were made for the learner, or, if negative, that were taken back."""
        self._ours += steps
        self._still = 0

    @property
    def has_room(self) -> bool:
        """Whether the learner wants more of us; other sources may have covered our share."""
        return (
            self._reported is not None
            and self._reported < self._budget
            and self._ours < self._budget / self._num_sources
        )
