"""What a parameter may be drawn from; each maps ready random numbers to values, so N arms are one operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ompo_ros.task.kinematics import FloatArray


class Distribution(Protocol):
    """Turns numbers uniform in [0, 1) or standard normal into values; `support` is the range they can take."""

    @property
    def support(self) -> tuple[float, float]: ...

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Constant:
    """Always the same: one number, or one a joint."""

    value: float | tuple[float, ...]

    @property
    def support(self) -> tuple[float, float]:
        values = np.atleast_1d(self.value)
        return float(values.min()), float(values.max())

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return np.broadcast_to(np.asarray(self.value, dtype=np.float64), uniform.shape)


@dataclass(frozen=True)
class Uniform:
    """Anything between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"the range [{self.low}, {self.high}] is empty: its low end is above its high end")

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return self.low + (self.high - self.low) * uniform


@dataclass(frozen=True)
class LogUniform:
    """Any order of magnitude between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high:
            raise ValueError(f"log_uniform needs 0 < low <= high, got [{self.low}, {self.high}]")

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return self.low * (self.high / self.low) ** uniform


@dataclass(frozen=True)
class Normal:
    """A bell around the mean, cut off at three standard deviations."""

    mean: float
    std: float

    def __post_init__(self) -> None:
        if self.std < 0:
            raise ValueError(f"a standard deviation cannot be negative, got {self.std}")

    @property
    def support(self) -> tuple[float, float]:
        return self.mean - 3 * self.std, self.mean + 3 * self.std

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return self.mean + self.std * np.clip(normal, -3.0, 3.0)


@dataclass(frozen=True)
class Choice:
    """One of the listed values, each as likely."""

    options: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError("choice needs at least one value")

    @property
    def support(self) -> tuple[float, float]:
        return min(self.options), max(self.options)

    def values(self, uniform: FloatArray, normal: FloatArray) -> FloatArray:
        return np.asarray(self.options, dtype=np.float64)[(uniform * len(self.options)).astype(np.intp)]
