"""Running statistics of observations and rewards, stored in checkpoints and exported actors."""

from __future__ import annotations

import logging

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_log = logging.getLogger(__name__)

CLIP = 10.0  # standard deviations
EPSILON = 1e-6


class RunningStatistics:
    """Mean and variance over all rows ever seen, merged batch by batch in double precision."""

    def __init__(self, dim: int) -> None:
        self.count = 0
        self.mean = np.zeros(dim)
        self.variance = np.ones(dim)

    def update(self, rows: NDArray[np.float32]) -> None:
        count, mean, variance = len(rows), rows.mean(0, dtype=np.float64), rows.var(0, dtype=np.float64)
        if self.count == 0:
            self.count, self.mean, self.variance = count, mean, variance
            return
        total = self.count + count
        shift = mean - self.mean
        self.mean = self.mean + shift * (count / total)
        spread = self.variance * self.count + variance * count + shift**2 * (self.count * count / total)
        self.variance = spread / total
        self.count = total

    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation, or one for a constant value: that is centred, not scaled."""
        deviation = np.sqrt(self.variance)
        return np.where(deviation < EPSILON, 1.0, deviation)


class Normalizer:
    """Observations to `clip((obs - mean) * scale, -10, 10)`, in whole buffer rows at once."""

    def __init__(self, obs_dim: int, act_dim: int, enabled: bool, device: torch.device) -> None:
        self.enabled = enabled
        self._act_dim = act_dim
        self.clip = CLIP if enabled else float(np.finfo(np.float32).max)
        self.statistics = RunningStatistics(obs_dim)
        self._device = device
        self.refresh()

    def update(self, obs: NDArray[np.float32]) -> None:
        if self.enabled:
            self.statistics.update(obs)
            self.refresh()

    def refresh(self) -> None:
        """Copy the statistics to the device; call after changing them."""
        mean = torch.tensor(self.statistics.mean, dtype=torch.float32)
        scale = torch.tensor(1.0 / self.statistics.deviation() if self.enabled else 1.0, dtype=torch.float32)
        scale = scale.expand_as(mean)
        plain = torch.zeros(self._act_dim)
        self.mean, self.scale = mean.to(self._device), scale.to(self._device)
        self._row_mean = torch.cat((mean, plain, mean)).to(self._device)
        self._row_scale = torch.cat((scale, plain + 1.0, scale)).to(self._device)

    def obs_(self, obs: Tensor) -> Tensor:
        """Normalise observations in place."""
        if self.enabled:
            obs.sub_(self.mean).mul_(self.scale).clamp_(-CLIP, CLIP)
        return obs

    def transition_(self, transition: Tensor) -> Tensor:
        """Normalise `obs | action | next_obs` in place; actions stay as they are."""
        if self.enabled:
            transition.sub_(self._row_mean).mul_(self._row_scale).clamp_(-CLIP, CLIP)
        return transition


class RewardTransform:
    """The task's affine map to positive rewards, the logarithm if asked for, and scaling to unit deviation if asked."""

    def __init__(self, scale: float, shift: float, floor: float, log: bool, normalize: bool) -> None:
        self.scale, self.shift, self.floor = scale, shift, floor
        self.log, self.normalize = log, normalize
        self.statistics = RunningStatistics(1)
        self._warned = False

    def update(self, reward: NDArray[np.float32]) -> None:
        if self.log and not self._warned:
            self._warn_if_constant(reward)
        if self.normalize:
            mapped = self._map(torch.from_numpy(reward))
            self.statistics.update(mapped.numpy()[:, None])

    def _warn_if_constant(self, reward: NDArray[np.float32]) -> None:
        """Warn once that rewards below the floor carry no information."""
        highest = float(reward.max()) * self.scale + self.shift
        if highest <= self.floor:
            self._warned = True
            least = self.floor - float(reward.min()) * self.scale
            _log.warning(
                "reward: log is constant, all %d rewards of a batch lie below reward_floor (%g): "
                "set reward_shift above %g, or reward: raw",
                len(reward),
                self.floor,
                least,
            )

    def _map(self, reward: Tensor) -> Tensor:
        mapped = reward * self.scale + self.shift
        return mapped.clamp_min(self.floor).log() if self.log else mapped

    def __call__(self, reward: Tensor) -> Tensor:
        mapped = self._map(reward)
        return mapped / float(self.statistics.deviation()[0]) if self.normalize else mapped
