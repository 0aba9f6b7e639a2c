"""Rounds of the discriminator and R of every stored row, in slices so that no update takes long."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from ompo_ros.learning.config import Config
from ompo_ros.learning.discriminator import Discriminator
from ompo_ros.learning.experience import Experience
from ompo_ros.learning.metrics import Reading
from ompo_ros.learning.normalization import Normalizer

STEPS_AT_ONCE: Final = 2  # mini-batches of the discriminator per update
RATED_AT_ONCE: Final = 4_096  # rows per update
_HELD_OUT: Final = 5  # every fifth row of D_G and the last fifth of D_L are used only for calibration
_CALIBRATION: Final = 1_000  # rows of D_G


class Rating:
    """Lines 15 to 20 of algorithm 1: a full D_L trains the discriminator, which rates D_G; then D_L joins D_G."""

    def __init__(self, config: Config, experience: Experience, rng: torch.Generator, device: torch.device) -> None:
        layout = experience.layout
        self.discriminator = Discriminator(config, layout.obs_dim, layout.act_dim, rng, device)
        self.steps_left = 0  # of the round under way
        self._steps, self._batch_size = config.discriminator_steps, config.batch_size
        self._experience = experience

    def advance(self, normalizer: Normalizer, rng: torch.Generator) -> None:
        """Do one slice of the work that is due."""
        experience = self._experience
        if experience.round_waits and not experience.has_history:
            experience.finish_round()  # nothing to compare it with
        if experience.round_waits:
            self._learn(normalizer, rng)
        elif self.discriminator.trained and experience.unrated:
            self._rate_oldest(normalizer)

    def _learn(self, normalizer: Normalizer, rng: torch.Generator) -> None:
        if self.steps_left == 0:
            self.steps_left = self._steps
            drawn = self._experience.global_.draw(RATED_AT_ONCE, rng)
            self.discriminator.standardization.fit(self._global(drawn, normalizer))
        fresh = self._experience.layout.transition(self._experience.round.used()["row"])
        trained_on = len(fresh) - len(fresh) // _HELD_OUT
        for _ in range(min(STEPS_AT_ONCE, self.steps_left)):
            local = fresh[torch.randint(trained_on, (self._batch_size,), generator=rng, device=rng.device)]
            self.discriminator.step(normalizer.transition_(local), self._old(normalizer, rng), rng)
            self.steps_left -= 1
        if self.steps_left == 0:
            held_out = fresh[trained_on:] if trained_on < len(fresh) else fresh
            self.discriminator.calibrate(normalizer.transition_(held_out.clone()), self._unseen(normalizer, rng))
            self._experience.finish_round()
            self._experience.unrated = self._experience.global_.size

    def _old(self, normalizer: Normalizer, rng: torch.Generator) -> Tensor:
        """Draw a mini-batch of D_G's training rows: four of five, or all if there are fewer."""
        size = self._experience.global_.size
        kept = size * (_HELD_OUT - 1) // _HELD_OUT
        if size < _HELD_OUT:
            return self._global(self._experience.global_.draw(self._batch_size, rng), normalizer)
        drawn = torch.randint(kept, (self._batch_size,), generator=rng, device=rng.device)
        return self._global(drawn + drawn // (_HELD_OUT - 1) + 1, normalizer)

    def _unseen(self, normalizer: Normalizer, rng: torch.Generator) -> Tensor:
        fifths = (self._experience.global_.size + _HELD_OUT - 1) // _HELD_OUT
        drawn = torch.randint(fifths, (_CALIBRATION,), generator=rng, device=rng.device)
        return self._global(drawn * _HELD_OUT, normalizer)

    def _global(self, drawn: Tensor, normalizer: Normalizer) -> Tensor:
        rows = self._experience.global_.columns["row"][drawn]
        return normalizer.transition_(self._experience.layout.transition(rows))

    def _rate_oldest(self, normalizer: Normalizer) -> None:
        """Write R into the oldest rows without it; new rows have R = 0 until then."""
        experience = self._experience
        piece = experience.first_unrated(RATED_AT_ONCE)
        self.rate(experience.global_.columns["row"][piece], normalizer)
        experience.rated(piece)

    def rate(self, rows: Tensor, normalizer: Normalizer) -> None:
        """Write R into stored rows."""
        layout = self._experience.layout
        transition = normalizer.transition_(layout.transition(rows).clone())
        layout.log_ratio(rows).copy_(self.discriminator.log_ratio(transition))

    def readings(self, normalizer: Normalizer) -> dict[str, Reading]:
        """Metrics of R: its size, its calibration and its effect on the replay."""
        experience, discriminator = self._experience, self.discriminator
        return {
            "R_local": lambda: self._local_log_ratio(normalizer),
            "R_held_out_loss": lambda: discriminator.held_out_loss,
            "R_slope": lambda: discriminator.slope,
            **experience.replay_readings(),
        }

    def _local_log_ratio(self, normalizer: Normalizer) -> Tensor:
        """R of the latest round of D_L by the current discriminator."""
        rows = self._experience.round.used()["row"][: self._batch_size].clone()
        if len(rows) == 0:
            return rows.new_zeros(())
        return self.discriminator.log_ratio(normalizer.transition_(self._experience.layout.transition(rows))).mean()
