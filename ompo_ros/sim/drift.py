"""Schedules that move a parameter over episodes and steps: sine, ramps, jumps, noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ompo_ros.task.kinematics import FloatArray

CLOCKS = ("episodes", "steps")  # steps are counted within the episode


class Trend(Protocol):
    """A value that depends only on the count of a clock."""

    @property
    def support(self) -> tuple[float, float]: ...

    def at(self, count: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Sine:
    """mean + amplitude x sin(rate x count), the paper's form."""

    mean: float
    amplitude: float
    rate: float  # rad per count

    @property
    def support(self) -> tuple[float, float]:
        return self.mean - abs(self.amplitude), self.mean + abs(self.amplitude)

    def at(self, count: FloatArray) -> FloatArray:
        return self.mean + self.amplitude * np.sin(self.rate * count)


@dataclass(frozen=True)
class Ramp:
    """Straight from one value to another between two counts, constant before and after."""

    first: float
    last: float
    begin: float
    end: float

    def __post_init__(self) -> None:
        if not self.begin < self.end:
            raise ValueError(f"a ramp must begin before it ends, got {self.begin} and {self.end}")

    @property
    def support(self) -> tuple[float, float]:
        return min(self.first, self.last), max(self.first, self.last)

    def at(self, count: FloatArray) -> FloatArray:
        return self.first + (self.last - self.first) * np.clip((count - self.begin) / (self.end - self.begin), 0.0, 1.0)


@dataclass(frozen=True)
class Jumps:
    """Constant between the counts `at_counts`, one value more than there are jumps."""

    at_counts: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(self.at_counts) + 1:
            raise ValueError(
                f"{len(self.at_counts)} jumps separate {len(self.at_counts) + 1} values, got {len(self.values)}"
            )
        if list(self.at_counts) != sorted(set(self.at_counts)):
            raise ValueError(f"jumps must come in rising order, got {list(self.at_counts)}")

    @property
    def support(self) -> tuple[float, float]:
        return min(self.values), max(self.values)

    def at(self, count: FloatArray) -> FloatArray:
        return np.asarray(self.values)[np.searchsorted(self.at_counts, count, side="right")]


@dataclass(frozen=True)
class Noise:
    """Uniform numbers between low and high, drawn again at each count of its clock."""

    low: float
    high: float
    over: str

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"the noise's range [{self.low}, {self.high}] is empty")


@dataclass(frozen=True)
class Schedule:
    """A trend over one clock plus noise over the same or another."""

    trend: Trend
    over: str = "episodes"
    noise: Noise | None = None

    def __post_init__(self) -> None:
        for clock in (self.over, self.noise.over if self.noise else self.over):
            if clock not in CLOCKS:
                raise ValueError(f"a drift goes over {' or '.join(CLOCKS)}, not over {clock!r}")

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.trend.support
        return (low + self.noise.low, high + self.noise.high) if self.noise else (low, high)

    @property
    def moves_within_episode(self) -> bool:
        return "steps" in (self.over, self.noise.over if self.noise else self.over)

    @property
    def draws_each_step(self) -> bool:
        return self.noise is not None and self.noise.over == "steps"

    def values(self, episode: NDArray[np.int64], step: NDArray[np.int64], uniform: FloatArray) -> FloatArray:
        """Values for arms in `episode` and `step` (n,); `uniform` (n,) in [0, 1) becomes the noise."""
        value = self.trend.at((episode if self.over == "episodes" else step).astype(np.float64))
        if self.noise is None:
            return value
        return value + self.noise.low + (self.noise.high - self.noise.low) * uniform
