"""A comparison's results: rows of a CSV file, and what one run or some runs amount to."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

GOOD: Final = 0.95  # success that counts as adapted
FELL: Final = 0.05  # below a run's own best, at its end
RESAMPLED: Final = 2_000
RunKey = tuple[str, str, int]  # gap, method, seed


@dataclass(frozen=True)
class Point:
    """One evaluation of one run."""

    gap: str
    method: str
    seed: int
    target_steps: int
    success: float
    mean_return: float
    episodes: int
    updates: int
    source_steps: int
    update_to_data: float
    source_ratio: float
    prediction_error: float  # of the belief; nan without one
    held_out_loss: float  # of the discriminator; nan without one
    slope: float
    replay_ess: float
    weight_target: float
    weight_source: float
    seconds: float  # of the whole run so far, on one core
    held: str  # why the arm was held; success is then 0

    @property
    def run(self) -> RunKey:
        return self.gap, self.method, self.seed


_COLUMNS: Final = [
    (each.name, {"int": int, "float": float, "str": str}[str(each.type)]) for each in dataclasses.fields(Point)
]


def read(path: Path) -> list[Point]:
    """All whole rows; an incomplete line is skipped."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    rows = csv.reader(line for line in lines if line.endswith("\n"))
    next(rows, None)
    return [
        Point(*(kind(text) for (_, kind), text in zip(_COLUMNS, row, strict=True)))
        for row in rows
        if len(row) == len(_COLUMNS)
    ]


def append(path: Path, points: Sequence[Point]) -> None:
    """Add a run's rows in one write, so that a run is whole or missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not path.exists() or path.stat().st_size == 0:
        writer.writerow([name for name, _ in _COLUMNS])
    elif not path.read_bytes().endswith(b"\n"):
        text.write("\n")
    for point in points:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in dataclasses.astuple(point)])
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, text.getvalue().encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def runs(points: Iterable[Point]) -> dict[RunKey, list[Point]]:
    """Each run's points in order."""
    grouped: dict[RunKey, list[Point]] = {}
    for point in sorted(points, key=lambda each: each.target_steps):
        grouped.setdefault(point.run, []).append(point)
    return grouped


def shared(points: Sequence[Point]) -> list[Point]:
    """The points of the gaps and seeds that every method was run on: methods are compared fairly on these alone."""
    methods: dict[tuple[str, int], set[str]] = {}
    for point in points:
        methods.setdefault((point.gap, point.seed), set()).add(point.method)
    everyone = {point.method for point in points}
    return [point for point in points if methods[point.gap, point.seed] == everyone]


def from_the_shipped_policy(grouped: Mapping[RunKey, Sequence[Point]]) -> dict[RunKey, list[Point]]:
    """The runs that adapt, each begun with the shipped policy's evaluation before the first step, if there is one."""
    begun = {(gap, seed): [run[0]] for (gap, _, seed), run in grouped.items() if run[0].target_steps == 0}
    return {key: [*begun.get((key[0], key[2]), []), *run] for key, run in grouped.items() if run[-1].target_steps > 0}


def interquartile_mean(values: NDArray[np.float64]) -> float:
    """Mean of the middle half, the quarter's border counted in part."""
    ordered = np.sort(values)
    n = len(ordered)
    low, high = n / 4.0, 3.0 * n / 4.0
    places = np.arange(n)
    weight = np.clip(np.minimum(places + 1, high) - np.maximum(places, low), 0.0, 1.0)
    return float((ordered * weight).sum() / weight.sum())


def interval(by_gap: Mapping[str, Sequence[float]], seed: int = 0) -> tuple[float, float]:
    """95 % bootstrap interval of the interquartile mean; seeds are resampled within their gap."""
    rng = np.random.default_rng(seed)
    groups = [np.asarray(values) for values in by_gap.values()]
    means = [
        interquartile_mean(np.concatenate([rng.choice(group, len(group)) for group in groups]))
        for _ in range(RESAMPLED)
    ]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def success_at(run: Sequence[Point], steps: int) -> float | None:
    """Success at a point; 0 from the evaluation on during which, or after which, the arm was held."""
    for point in run:
        if point.target_steps == steps:
            return point.success
    held_after = run[-1].target_steps - 1  # its row is one step later, beside that of a whole evaluation
    return 0.0 if run[-1].held and held_after <= steps else None


def steps_to_good(run: Sequence[Point]) -> float:
    """Target steps after which a run first reached `GOOD`; infinite if never."""
    return next((float(point.target_steps) for point in run if point.success >= GOOD), float("inf"))


def fell(run: Sequence[Point]) -> bool:
    """Whether a run ended below its own best of the evaluations with as many episodes as its last."""
    fair = [point.success for point in run if point.episodes >= run[-1].episodes]
    return run[-1].success < max(fair) - FELL - 1e-9


def evaluated_steps(points: Iterable[Point]) -> list[int]:
    """The steps at which policies were evaluated; those at which an arm was held are none of them."""
    return sorted({point.target_steps for point in points if not point.held})


def by_steps(of_method: Sequence[Sequence[Point]], evaluated: Iterable[int]) -> dict[int, list[float]]:
    """Success of the runs that were evaluated at each of the steps; one whose arm was held counts 0 from there on."""
    found = {steps: [success_at(run, steps) for run in of_method] for steps in evaluated}
    known = {steps: [success for success in values if success is not None] for steps, values in found.items()}
    return {steps: values for steps, values in known.items() if values}


def as_arrays(found: Mapping[int, Sequence[float]]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Steps, interquartile mean, lower and upper quartile."""
    steps = np.array(list(found))
    means = np.array([interquartile_mean(np.asarray(values)) for values in found.values()])
    quartiles = np.array([np.quantile(values, (0.25, 0.75)) for values in found.values()])
    return steps, means, quartiles[:, 0], quartiles[:, 1]
