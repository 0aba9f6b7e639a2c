"""Curves of a comparison, drawn from its rows."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ompo_ros.experiments.comparison import Point, as_arrays, by_steps, evaluated_steps, from_the_shipped_policy, runs

COLUMNS = 4


def figure(points: Sequence[Point], order: Sequence[str]) -> bytes:
    """Success over target steps, one panel per gap and one for all of them, as a PNG."""
    grouped = runs(points)
    gaps = sorted({gap for gap, _, _ in grouped})
    panels = (["all gaps"] if len(gaps) > 1 else []) + gaps
    rows = -(-len(panels) // COLUMNS)
    drawn = Figure(figsize=(4.2 * min(COLUMNS, len(panels)), 3.1 * rows), layout="constrained")
    FigureCanvasAgg(drawn)
    methods = [method for method in order if any(key[1] == method for key in grouped)]
    adapting = from_the_shipped_policy(grouped)
    for place, panel in enumerate(panels):
        axes = drawn.add_subplot(rows, min(COLUMNS, len(panels)), place + 1)
        evaluated = evaluated_steps(point for point in points if panel in ("all gaps", point.gap))
        for number, method in enumerate(methods):
            of_method = [
                run for (gap, name, _), run in adapting.items() if name == method and panel in ("all gaps", gap)
            ]
            if not of_method:
                continue
            steps, mean, low, high = as_arrays(by_steps(of_method, evaluated))
            axes.plot(steps, mean, label=method, color=f"C{number % 10}", linestyle="-" if number < 10 else "--")
            axes.fill_between(steps, low, high, color=f"C{number % 10}", alpha=0.12)
        axes.set_title(panel, fontsize=10)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("target steps")
        axes.grid(alpha=0.3)
        if place == 0:
            axes.set_ylabel("success, interquartile mean and quartiles")
            axes.legend(fontsize=7)
    image = io.BytesIO()
    drawn.savefig(image, format="png", dpi=110)
    return image.getvalue()
