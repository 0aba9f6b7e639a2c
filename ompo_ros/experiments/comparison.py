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
from scipy.special import stdtrit

GOOD: Final = 0.95  # success that counts as adapted
FELL: Final = 0.05  # below a run's best, at its end
RESAMPLED: Final = 2_000
ENOUGH: Final = 6  # gaps for an interval
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


Runs = Mapping[RunKey, Sequence[Point]]
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
    """Add a run's rows; if not all can be written, none stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not path.exists() or path.stat().st_size == 0:
        writer.writerow([name for name, _ in _COLUMNS])
    elif not path.read_bytes().endswith(b"\n"):
        text.write("\n")
    for point in points:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in dataclasses.astuple(point)])
    with path.open("ab", buffering=0) as file:
        before = file.tell()
        content = text.getvalue().encode()
        if file.write(content) < len(content):
            file.truncate(before)
            raise OSError(f"{path} cannot take {len(content)} bytes more: is the disk full?")
        os.fsync(file.fileno())


def runs(points: Iterable[Point]) -> dict[RunKey, list[Point]]:
    """Each run's points in order."""
    grouped: dict[RunKey, list[Point]] = {}
    for point in sorted(points, key=lambda each: each.target_steps):
        grouped.setdefault(point.run, []).append(point)
    return grouped


def shared(points: Sequence[Point], methods: Sequence[str]) -> list[Point]:
    """A fair comparison: the gaps and seeds that methods have in common, without a method that would cost a gap."""
    found: dict[str, set[tuple[str, int]]] = {}
    for point in points:
        found.setdefault(point.method, set()).add((point.gap, point.seed))
    gaps = {point.gap for point in points}
    common, listed = {(point.gap, point.seed) for point in points}, set()
    for method in methods:
        left = common & found.get(method, set())
        if {gap for gap, _ in left} == gaps:
            common = left
            listed.add(method)
    return [point for point in points if point.method in listed and (point.gap, point.seed) in common]


def from_the_shipped_policy(grouped: Runs) -> dict[RunKey, list[Point]]:
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


def gap_means(successes: Mapping[str, Sequence[float]]) -> NDArray[np.float64]:
    """One value per gap, so that a gap with more seeds weighs no more."""
    return np.array([np.mean(values) for values in successes.values()])


def interval(successes: Mapping[str, Sequence[float]], seed: int = 0) -> tuple[float, float] | None:
    """95 % bootstrap interval of the gaps' interquartile mean, of gaps and then seeds drawn; None with few gaps."""
    count = len(successes)
    if count < ENOUGH:
        return None
    rng = np.random.default_rng(seed)
    seeds = [rng.choice(values, (RESAMPLED, count, len(values))).mean(axis=2) for values in successes.values()]
    gaps = rng.integers(count, size=(1, RESAMPLED, count))
    drawn = np.take_along_axis(np.stack(seeds), gaps, axis=0)[0]
    low, high = np.quantile([interquartile_mean(values) for values in drawn], (0.025, 0.975))
    return float(low), float(high)


def student_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the gaps' mean by Student's t: a bootstrap of so few is too narrow; None with few gaps."""
    count = len(values)
    if count < ENOUGH:
        return None
    half = float(stdtrit(count - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(count))
    mean = float(np.mean(values))
    return mean - half, mean + half


def success_at(run: Sequence[Point], steps: int) -> float | None:
    """Success at a point; 0 from the evaluation on during which, or after which, the arm was held."""
    for point in run:
        if point.target_steps == steps:
            return point.success
    held_after = run[-1].target_steps - 1  # its row is one step later, beside that of a whole evaluation
    return 0.0 if run[-1].held and held_after <= steps else None


def success_after(run: Sequence[Point], steps: int) -> float | None:
    """Success after some steps; a policy that never adapts has the same after any."""
    return run[-1].success if run[-1].target_steps == 0 and not run[-1].held else success_at(run, steps)


def steps_to_good(run: Sequence[Point]) -> float:
    """Target steps after which a run first reached `GOOD`; infinite if never."""
    return next((float(point.target_steps) for point in run if point.success >= GOOD), float("inf"))


def fell(run: Sequence[Point]) -> bool:
    """Whether a run ended below its best of the evaluations with as many episodes as its last."""
    fair = [point.success for point in run if point.episodes >= run[-1].episodes]
    return run[-1].success < max(fair) - FELL - 1e-9


def evaluated_steps(points: Iterable[Point]) -> list[int]:
    """The steps at which policies were evaluated; those at which an arm was held are none of them."""
    return sorted({point.target_steps for point in points if not point.held})


def by_gap(of_method: Runs, steps: int) -> dict[str, list[float]]:
    """Each gap's success after some steps, of the seeds that were evaluated there."""
    found: dict[str, list[float]] = {}
    for (gap, _, _), run in of_method.items():
        success = success_after(run, steps)
        if success is not None:
            found.setdefault(gap, []).append(success)
    return found


def by_steps(of_method: Runs, evaluated: Iterable[int]) -> dict[int, list[float]]:
    """Success at each of the steps: the gaps' means, or the seeds of a gap that is alone."""
    alone = len({gap for gap, _, _ in of_method}) == 1
    found = {steps: by_gap(of_method, steps) for steps in evaluated}
    return {
        steps: next(iter(gaps.values())) if alone else gap_means(gaps).tolist() for steps, gaps in found.items() if gaps
    }


def as_arrays(found: Mapping[int, Sequence[float]]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Steps, interquartile mean, lower and upper quartile."""
    steps = np.array(list(found))
    means = np.array([interquartile_mean(np.asarray(values)) for values in found.values()])
    quartiles = np.array([np.quantile(values, (0.25, 0.75)) for values in found.values()])
    return steps, means, quartiles[:, 0], quartiles[:, 1]
