"""DARC (Eysenbach et al. 2021): SAC on the sources, its reward corrected by two classifiers of the dynamics."""

from __future__ import annotations

from torch import Tensor

from ompo_ros.learning.classified import ClassifiedSAC


class DARC(ClassifiedSAC):
    """Adds to the reward the log likelihood ratio of the next state, target against sources."""

    def _reward(self, rows: Tensor) -> Tensor:
        reward = super()._reward(rows)
        if not self.corrects:
            return reward
        correction = self.log_odds(rows)
        self._readings.update(correction=correction.mean)
        return reward + correction
