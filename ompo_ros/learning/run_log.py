"""A run's curves for TensorBoard; a full disk stops the curves, never the learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter


class RunLog:
    """Writes figures until a write fails, and again after the next successful checkpoint."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self._folder, self._warn = folder, warn
        self._writer: SummaryWriter | None = None
        self._written = 0  # updates at the last writing
        self._episodes, self._returns, self._successes = 0, 0.0, 0
        self.reopen()

    def reopen(self) -> None:
        """Begin a new file unless one is open."""
        if self._writer is not None:
            return
        try:
            self._writer = SummaryWriter(str(self._folder))
        except OSError as error:
            self._give_up(error)

    def add_episode(self, episode_return: float, success: bool) -> None:
        """Add an episode to the next means; a report writes two figures for any number of episodes."""
        self._episodes += 1
        self._returns += episode_return
        self._successes += success

    def write(self, metrics: Mapping[str, float], updates: int, target_steps: int) -> None:
        """Write the figures since the last call."""
        if updates > self._written:
            self._written = updates
            self._add({f"learner/{name}": value for name, value in metrics.items()}, updates)
        if self._episodes:
            means = {"return": self._returns / self._episodes, "success": self._successes / self._episodes}
            self._add({f"target/{name}": mean for name, mean in means.items()}, target_steps)
            self._episodes, self._returns, self._successes = 0, 0.0, 0

    def _add(self, figures: Mapping[str, float], step: int) -> None:
        """Pass figures to the writer, which reports errors of its thread at the next call."""
        if self._writer is None:
            return
        try:
            for name, value in figures.items():
                self._writer.add_scalar(name, value, step)
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._writer = None
        self._warn(f"curves are not written to {self._folder} until the next checkpoint is: {error}")
