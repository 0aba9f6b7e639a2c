"""How many source transitions and updates a run may have by now: both follow the target's steps, the dear ones."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Pacing:
    """The run's budget; every figure is a total since the run began, so that a resumed run goes on where it was."""

    warmup: int  # transitions, of whatever origin, before the first update
    source_ratio: float  # source transitions per target transition
    update_to_data: float  # updates per target transition
    target_steps: int  # target transitions after which the run is finished; 0 for never

    def source_budget(self, target_steps: int) -> int:
        """Source transitions wanted once the target has made so many steps."""
        return self.warmup + math.floor(self.source_ratio * target_steps)

    def updates_due(self, source_steps: int, target_steps: int, updates: int) -> int:
        """Updates the data allow beyond those already made."""
        if source_steps + target_steps < self.warmup:
            return 0
        return max(0, math.floor(self.update_to_data * target_steps) - updates)

    def finished(self, target_steps: int, updates: int) -> bool:
        """Whether the target's steps are taken and paid back in updates."""
        taken = 0 < self.target_steps <= target_steps
        return taken and updates >= math.floor(self.update_to_data * target_steps)
