"""Recovery from NaN and infinity: a learner's last finite state, kept in memory."""

from __future__ import annotations

import torch

from ompo_ros.learning.agent import Agent
from ompo_ros.learning.state import learned_statistics, learned_tensors

CHECK_EVERY = 100  # updates; a check and a copy cost a few per cent of one update each
PROGRESS = 500  # finite updates after which a state is kept
ENOUGH = 3  # recoveries without such progress after which the learner pauses


class Recovery:
    """Copies networks, optimisers and normalisers periodically, and restores them when one is not finite.

    A gradient that is not finite stays in the optimiser's moments, so that checking those misses no loss. Buffers,
    random states and the count of updates continue, since an exact repetition would fail again.
    """

    def __init__(self, agent: Agent) -> None:
        self.recoveries = 0
        self._agent = agent
        self._tensors = [tensor for _, tensor in learned_tensors(agent)]
        self._kept = [tensor.clone() for tensor in self._tensors]
        self._without_progress = 0
        self._keep()

    @property
    def hopeless(self) -> bool:
        """Whether recoveries follow each other without progress in between."""
        return self._without_progress >= ENOUGH

    def try_again(self) -> None:
        """Reset the count of recoveries, after the user has removed their cause."""
        self._without_progress = 0

    @property
    def due(self) -> bool:
        """Whether the next check is due."""
        return self._agent.updates - self._checked_at >= CHECK_EVERY

    def keep_sound(self) -> bool:
        """Restore the last finite state if needed; returns whether the learner was finite."""
        self._checked_at = self._agent.updates
        if not self._sound():
            self._go_back()
            return False
        if self._agent.updates - self._kept_at >= PROGRESS:
            self._keep()
            self._without_progress = 0
        return True

    def _sound(self) -> bool:
        """A value that is not finite makes its tensor's sum not finite."""
        return bool(torch.stack([tensor.sum() for tensor in self._tensors]).isfinite().all())

    def _keep(self) -> None:
        torch._foreach_copy_(self._kept, self._tensors)
        self._statistics = {
            name: (statistics.count, statistics.mean, statistics.variance)
            for name, statistics in learned_statistics(self._agent).items()
        }
        self._flags = self._agent.flags()
        self._kept_at = self._checked_at = self._agent.updates

    def _go_back(self) -> None:
        torch._foreach_copy_(self._tensors, self._kept)
        for name, statistics in learned_statistics(self._agent).items():
            statistics.count, statistics.mean, statistics.variance = self._statistics[name]
        self._agent.normalizer.refresh()
        self._agent.set_flags(self._flags)
        self._agent.experience.forget_ratings()
        self._kept_at = self._agent.updates
        self.recoveries += 1
        self._without_progress += 1
