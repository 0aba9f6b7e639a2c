"""Budgets of source transitions and updates, paced by target steps because robot time is what costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ompo_ros.parameters import parameter


@dataclass(frozen=True)
class Pacing:
    """The run's budget; every figure is a total since the run began, so that a resumed run continues it."""

    warmup: int = parameter(2000, "Transitions of any origin before the first update.", high=1e9)
    source_ratio: float = parameter(3.0, "Source transitions per target transition.", high=1e6)
    update_to_data: float = parameter(3.0, "Updates per target transition.", high=1e4)
    target_steps: int = parameter(0, "Target transitions after which the run ends; 0: never.", high=1e9)

    def source_budget(self, target_steps: int, updates: int) -> int:
        """Source transitions wanted by now: `source_ratio` per target step whose updates have been made.

        They therefore come from the newest policy and belief, and continue while updates catch up.
        """
        paid = min(target_steps, updates / self.update_to_data) if self.update_to_data else target_steps
        return self.warmup + math.floor(self.source_ratio * paid)

    def updates_due(self, source_steps: int, target_steps: int, updates: int) -> int:
        """Updates that are due and not yet made."""
        if source_steps + target_steps < self.warmup:
            return 0
        return max(0, math.floor(self.update_to_data * target_steps) - updates)

    def is_behind(self, source_steps: int, target_steps: int, updates: int, episode_steps: int) -> bool:
        """Whether more updates are due than those of one target episode."""
        return self.updates_due(source_steps, target_steps, updates) > self.update_to_data * episode_steps

    def finished(self, target_steps: int, updates: int) -> bool:
        """Whether all target steps have been taken and all their updates made."""
        taken = 0 < self.target_steps <= target_steps
        return taken and updates >= math.floor(self.update_to_data * target_steps)
