"""A learner's metrics, computed only when read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from torch import Tensor

Reading = Callable[[], "Tensor | float"]


class Metrics(Mapping[str, float]):
    """Named figures of the latest update; each is computed, and brought to the host, when first read."""

    def __init__(self, readings: Mapping[str, Reading]) -> None:
        self._readings = dict(readings)
        self._values: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            self._values[name] = float(self._readings[name]())
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._readings)

    def __len__(self) -> int:
        return len(self._readings)
