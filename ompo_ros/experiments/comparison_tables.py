"""A comparison's tables in Markdown: how each method does, on which gap, and what each part of a method adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ompo_ros.experiments.comparison import (
    ENOUGH,
    FELL,
    GOOD,
    Point,
    Runs,
    by_gap,
    fell,
    from_the_shipped_policy,
    gap_means,
    interquartile_mean,
    interval,
    runs,
    shared,
    steps_to_good,
    student_interval,
    success_after,
)

Parts = Mapping[str, tuple[str, str]]
WEIGHTS = "Medians and interquartile means (IQM) are of the gaps, each the mean of its seeds."
ADDED = f"(95 %) is Student's interval; with fewer than {ENOUGH} gaps the lowest and highest follow instead."


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]]) + "\n"


def shared_table(points: Sequence[Point], steps: Sequence[int], methods: Sequence[str]) -> str:
    """The methods on the gaps and seeds they have in common, below a line that says which and who was left out."""
    found = shared(points, methods)
    if not found:
        return "None of them has every gap.\n"
    seeds: dict[str, set[int]] = {}
    for point in found:
        seeds.setdefault(point.gap, set()).add(point.seed)
    fewest, most = min(map(len, seeds.values())), max(map(len, seeds.values()))
    listed, present = {point.method for point in found}, {point.method for point in points}
    missing = ", ".join(method for method in methods if method in present - listed)
    says = f"Gaps: {len(seeds)}. Seeds of each: {fewest if fewest == most else f'{fewest} to {most}'}. {WEIGHTS}"
    says += f" Left out, as they lack a gap or its seeds: {missing}." if missing else ""
    return f"{says}\n\n{methods_table(found, steps, methods)}"


def methods_table(points: Sequence[Point], steps: Sequence[int], order: Sequence[str]) -> str:
    """One row per method: medians, interquartile means with intervals, and the worst run."""
    grouped = runs(points)
    begun = from_the_shipped_policy(grouped)
    heads = ["method", "runs", "gaps", *(f"after {count:,}: median, IQM (95 %)" for count in steps)]
    heads += [f"steps to {GOOD:.0%} (median of gaps, runs that reached it)", "worst end"]
    heads += [f"ended {FELL * 100:.0f} points below own best or shipped"]
    rows = []
    for method in _present(grouped, order):
        of_method = _of(grouped, method)
        cells = [method, str(len(of_method)), str(len({gap for gap, _, _ in of_method}))]
        cells += [_success_cell(by_gap(of_method, count)) for count in steps]
        rows.append([*cells, *_run_cells(of_method, _of(begun, method))])
    return markdown(heads, rows)


def gaps_table(points: Sequence[Point], steps: Sequence[int], order: Sequence[str]) -> str:
    """One row per method and one column per gap: the seeds' mean success after each of the steps."""
    grouped = runs(points)
    gaps = list(dict.fromkeys(point.gap for point in points))
    rows = []
    for method in _present(grouped, order):
        found = [by_gap(_of(grouped, method), count) for count in steps]
        cells = (" ".join(f"{np.mean(each[gap]):.2f}" for each in found if gap in each) for gap in gaps)
        rows.append([method, *cells])
    return markdown(["method", *(gap.replace("gaps/", "") for gap in gaps)], rows)


def parts_table(points: Sequence[Point], steps: Sequence[int], parts: Parts) -> str:
    """One row per part: the success it adds on the same gap and seed, with an interval over gaps; "" without pairs."""
    grouped = runs(points)
    rows = []
    for part, (method, without) in parts.items():
        pairs = [
            (key[0], run, grouped[key[0], without, key[2]])
            for key, run in _of(grouped, method).items()
            if (key[0], without, key[2]) in grouped
        ]
        if pairs:
            gaps = {gap for gap, _, _ in pairs}
            cells = [_added_cell(pairs, count) for count in steps]
            rows.append([part, f"{method} - {without}", str(len(pairs)), str(len(gaps)), *cells])
    heads = ["part", "difference", "pairs", "gaps", *(f"after {count:,}: mean (95 %)" for count in steps)]
    return markdown(heads, rows) if rows else ""


def _present(grouped: Runs, order: Sequence[str]) -> list[str]:
    return [method for method in order if _of(grouped, method)]


def _of(grouped: Runs, method: str) -> Runs:
    return {key: run for key, run in grouped.items() if key[1] == method}


def _success_cell(successes: Mapping[str, Sequence[float]]) -> str:
    if not successes:
        return ""
    means = gap_means(successes)
    cell = f"{np.median(means):.2f}, {interquartile_mean(means):.2f}"
    found = interval(successes)
    return f"{cell} ({found[0]:.2f} to {found[1]:.2f})" if found else cell


def _added_cell(pairs: Iterable[tuple[str, Sequence[Point], Sequence[Point]]], steps: int) -> str:
    added: dict[str, list[float]] = {}
    for gap, run, without in pairs:
        success, less = success_after(run, steps), success_after(without, steps)
        if success is not None and less is not None:
            added.setdefault(gap, []).append(success - less)
    if not added:
        return ""
    differences = gap_means(added).tolist()
    cell, found = _signed(np.mean(differences)), student_interval(differences)
    if found:
        return f"{cell} ({_signed(found[0])} to {_signed(found[1])})"
    return f"{cell} (from {_signed(min(differences))} to {_signed(max(differences))})" if len(differences) > 1 else cell


def _signed(value: float) -> str:
    text = f"{value:+.2f}"
    return text if float(text) else "0.00"


def _run_cells(of_method: Runs, begun: Runs) -> list[str]:
    """How the runs that adapt ended; `begun` has them with the shipped policy's evaluation in front."""
    if not begun:
        return ["", "", ""]
    reached: dict[str, list[float]] = {}
    for key in begun:
        reached.setdefault(key[0], []).append(steps_to_good(of_method[key]))
    middle = float(np.median([np.median(steps) for steps in reached.values()]))
    share = np.mean([np.isfinite(steps) for of_gap in reached.values() for steps in of_gap])
    below = np.mean([fell(run) for run in begun.values()])
    return [
        f"{middle:.0f} ({share:.0%})" if np.isfinite(middle) else f"never ({share:.0%})",
        f"{min(run[-1].success for run in begun.values()):.2f}",
        f"{below:.0%}",
    ]
