"""Distributions of a parameter; each maps given random numbers to values, for N arms in one operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ompo_ros.task.kinematics import FloatArray

Numbers = float | tuple[float, ...]  # one for all joints, or one a joint


class Distribution(Protocol):
    """Turns numbers uniform in [0, 1) or standard normal into values; `support` is the range they can take."""

    @property
    def support(self) -> tuple[float, float]: ...

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Constant:
    """A constant: one number, or one per joint."""

    value: Numbers

    @property
    def support(self) -> tuple[float, float]:
        values = np.atleast_1d(self.value)
        return float(values.min()), float(values.max())

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return np.broadcast_to(np.asarray(self.value, dtype=np.float64), uniform.shape)


@dataclass(frozen=True)
class Uniform:
    """Uniform between low and high, given for all joints or for each."""

    low: Numbers
    high: Numbers

    def __post_init__(self) -> None:
        if (np.asarray(self.low) > np.asarray(self.high)).any():
            raise ValueError(f"the range [{self.low}, {self.high}] is empty: its low end is above its high end")

    @property
    def support(self) -> tuple[float, float]:
        return float(np.min(self.low)), float(np.max(self.high))

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.asarray(low + (high - low) * uniform)


@dataclass(frozen=True)
class LogUniform:
    """Log-uniform between low and high, given for all joints or for each."""

    low: Numbers
    high: Numbers

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low), np.asarray(self.high)
        if not ((low > 0) & (low <= high)).all():
            raise ValueError(f"log_uniform needs 0 < low <= high, got [{self.low}, {self.high}]")

    @property
    def support(self) -> tuple[float, float]:
        return float(np.min(self.low)), float(np.max(self.high))

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.asarray(low * (high / low) ** uniform)


@dataclass(frozen=True)
class Normal:
    """Normal, given for all joints or for each; cut off at three standard deviations and at low and high."""

    mean: Numbers
    std: Numbers
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        if (np.asarray(self.std) < 0).any():
            raise ValueError(f"a standard deviation cannot be negative, got {self.std}")
        if (np.asarray(self.mean) < self.low).any() or (np.asarray(self.mean) > self.high).any():
            raise ValueError(f"the mean {self.mean} lies outside [{self.low}, {self.high}]")

    @property
    def support(self) -> tuple[float, float]:
        mean, reach = np.asarray(self.mean), 3.0 * np.asarray(self.std)
        return float(max(np.min(mean - reach), self.low)), float(min(np.max(mean + reach), self.high))

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        values = np.asarray(self.mean) + np.asarray(self.std) * np.clip(normal, -3.0, 3.0)
        return np.asarray(np.clip(values, self.low, self.high))


@dataclass(frozen=True)
class Choice:
    """One of the listed values, equally likely."""

    options: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError("choice needs at least one value")

    @property
    def support(self) -> tuple[float, float]:
        return min(self.options), max(self.options)

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return np.asarray(self.options, dtype=np.float64)[(uniform * len(self.options)).astype(np.intp)]
