"""A comparison's tables in Markdown: how each method does, on which gap, and what each part of a method adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ompo_ros.experiments.comparison import (
    FELL,
    GOOD,
    RESAMPLED,
    Point,
    RunKey,
    fell,
    interquartile_mean,
    interval,
    runs,
    steps_to_good,
    success_at,
)

Runs = Mapping[RunKey, Sequence[Point]]
Parts = Mapping[str, tuple[str, str]]


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]]) + "\n"


def methods_table(points: Sequence[Point], steps: Sequence[int], order: Sequence[str]) -> str:
    """One row per method: medians, interquartile means with intervals, and the worst run."""
    grouped = runs(points)
    heads = ["method", "runs", "gaps", *(f"after {count:,}: median, IQM (95 %)" for count in steps)]
    heads += [f"steps to {GOOD:.0%} (median, reached by)", "worst end", f"ended {FELL * 100:.0f} points below own best"]
    rows = []
    for method in _present(grouped, order):
        of_method = {key: run for key, run in grouped.items() if key[1] == method}
        cells = [method, str(len(of_method)), str(len({gap for gap, _, _ in of_method}))]
        cells += [_success_cell(_by_gap(of_method, count)) for count in steps]
        rows.append([*cells, *_run_cells(list(of_method.values()))])
    return markdown(heads, rows)


def gaps_table(points: Sequence[Point], steps: Sequence[int], order: Sequence[str]) -> str:
    """One row per method and one column per gap: the seeds' mean success after each of the steps."""
    grouped = runs(points)
    gaps = list(dict.fromkeys(point.gap for point in points))
    rows = []
    for method in _present(grouped, order):
        found = [_by_gap({key: run for key, run in grouped.items() if key[1] == method}, count) for count in steps]
        cells = (" ".join(f"{np.mean(each[gap]):.2f}" for each in found if gap in each) for gap in gaps)
        rows.append([method, *cells])
    return markdown(["method", *(gap.replace("gaps/", "") for gap in gaps)], rows)


def parts_table(points: Sequence[Point], steps: Sequence[int], parts: Parts) -> str:
    """One row per part: the success it adds on the same gap and seed, with an interval over gaps; "" without pairs."""
    grouped = runs(points)
    rows = []
    for part, (method, without) in parts.items():
        pairs = {
            key: (run, grouped[key[0], without, key[2]])
            for key, run in grouped.items()
            if key[1] == method and (key[0], without, key[2]) in grouped
        }
        if pairs:
            gaps = {gap for gap, _, _ in pairs}
            cells = [_added_cell(pairs, count) for count in steps]
            rows.append([part, f"{method} - {without}", str(len(pairs)), str(len(gaps)), *cells])
    heads = ["part", "difference", "pairs", "gaps", *(f"after {count:,}: mean (95 %)" for count in steps)]
    return markdown(heads, rows) if rows else ""


def over_gaps(differences: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """95 % bootstrap interval of a mean over gaps, which are resampled."""
    values: NDArray[np.float64] = np.asarray(differences)
    drawn = np.random.default_rng(seed).choice(values, (RESAMPLED, len(values)))
    low, high = np.quantile(drawn.mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def _present(grouped: Runs, order: Sequence[str]) -> list[str]:
    return [method for method in order if any(key[1] == method for key in grouped)]


def _by_gap(of_method: Runs, steps: int) -> dict[str, list[float]]:
    by_gap: dict[str, list[float]] = {}
    for (gap, _, _), run in of_method.items():
        success = _success(run, steps)
        if success is not None:
            by_gap.setdefault(gap, []).append(success)
    return by_gap


def _success(run: Sequence[Point], steps: int) -> float | None:
    """Success after some steps; a policy that never adapts has the same after any."""
    return run[-1].success if run[-1].target_steps == 0 and not run[-1].held else success_at(run, steps)


def _success_cell(by_gap: Mapping[str, Sequence[float]]) -> str:
    """An interval needs a gap with several seeds."""
    if not by_gap:
        return ""
    values = np.concatenate(list(by_gap.values()))
    cell = f"{np.median(values):.2f}, {interquartile_mean(values):.2f}"
    if max(map(len, by_gap.values())) == 1:
        return cell
    low, high = interval(by_gap)
    return f"{cell} ({low:.2f} to {high:.2f})"


def _added_cell(pairs: Mapping[RunKey, tuple[Sequence[Point], Sequence[Point]]], steps: int) -> str:
    by_gap: dict[str, list[float]] = {}
    for (gap, _, _), (run, without) in pairs.items():
        success, less = _success(run, steps), _success(without, steps)
        if success is not None and less is not None:
            by_gap.setdefault(gap, []).append(success - less)
    if not by_gap:
        return ""
    differences = [float(np.mean(values)) for values in by_gap.values()]
    if len(differences) == 1:
        return f"{differences[0]:+.2f}"
    low, high = over_gaps(differences)
    return f"{np.mean(differences):+.2f} ({low:+.2f} to {high:+.2f})"


def _run_cells(of_method: Sequence[Sequence[Point]]) -> list[str]:
    adapting = [run for run in of_method if run[-1].target_steps > 0]
    if not adapting:
        return ["", "", ""]
    reached = [steps_to_good(run) for run in adapting]
    middle = float(np.median(reached))
    share = float(np.mean(np.isfinite(reached)))
    worst = min(run[-1].success for run in adapting)
    below = float(np.mean([fell(run) for run in adapting]))
    return [
        f"{middle:.0f} ({share:.0%})" if np.isfinite(middle) else f"never ({share:.0%})",
        f"{worst:.2f}",
        f"{below:.0%}",
    ]
