"""Curves of a comparison, drawn from its rows."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ompo_ros.experiments.comparison import Point, as_arrays, by_steps, evaluated_steps, from_the_shipped_policy, runs
from ompo_ros.experiments.methods import MAIN
from ompo_ros.sim.gaps import kind_of

COLUMNS: Final = 4
_MAIN_LINE: Final[Any] = {"linewidth": 2.0}
_OTHER_LINE: Final[Any] = {"linewidth": 0.9, "linestyle": "--"}


def figure(points: Sequence[Point], order: Sequence[str]) -> bytes:
    """Success over target steps, one panel per kind of gap and one per gap, as a PNG."""
    panels = _panels({point.gap for point in points})
    rows, columns = -(-(len(panels) + 1) // COLUMNS), min(COLUMNS, len(panels) + 1)
    drawn = Figure(figsize=(4.2 * columns, 3.1 * rows), layout="constrained")
    FigureCanvasAgg(drawn)
    present = {point.method for point in points}
    methods = sorted((method for method in order if method in present), key=lambda method: method not in MAIN)
    axes = [drawn.add_subplot(rows, columns, place + 1) for place in range(len(panels) + 1)]
    for each, (title, gaps) in zip(axes[1:], panels.items(), strict=True):
        _draw(each, title, [point for point in points if point.gap in gaps], methods)
    lines = {str(line.get_label()): line for each in axes for line in each.get_lines()}
    axes[0].axis("off")
    title = "success: interquartile mean, quartiles of\nthe main methods (of gaps' means, or of seeds)"
    axes[0].legend(lines.values(), lines.keys(), loc="center", title=title)
    image = io.BytesIO()
    drawn.savefig(image, format="png", dpi=110)
    return image.getvalue()


def _panels(gaps: Collection[str]) -> Mapping[str, Collection[str]]:
    """The gaps of each panel: those of a kind together, then each alone."""
    kinds = sorted({_kind(gap) for gap in gaps})
    of_kinds = {f"{kind} gaps": [gap for gap in gaps if _kind(gap) == kind] for kind in kinds}
    together = {title: of_kind for title, of_kind in of_kinds.items() if len(of_kind) > 1}
    return {**together, **{gap.replace("gaps/", ""): [gap] for gap in sorted(gaps, key=_place)}}


def _kind(gap: str) -> str:
    return kind_of(gap) or "chosen"


def _place(gap: str) -> tuple[str, int, str]:
    """By kind, then by the number of the draw."""
    number = re.search(r"\d+$", gap)
    return _kind(gap), int(number[0]) if number else 0, gap


def _draw(axes: Axes, title: str, points: Sequence[Point], methods: Sequence[str]) -> None:
    adapting = from_the_shipped_policy(runs(points))
    for number, method in enumerate(methods):
        of_method = {key: run for key, run in adapting.items() if key[1] == method}
        if of_method:
            steps, mean, low, high = as_arrays(by_steps(of_method, evaluated_steps(points)))
            color, main = f"C{number % 10}", method in MAIN
            axes.plot(steps, mean, label=method, color=color, **(_MAIN_LINE if main else _OTHER_LINE))
            if main:  # bands of all methods would hide each other
                axes.fill_between(steps, low, high, color=color, alpha=0.12)
    axes.set_title(title, fontsize=10)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("target steps")
    axes.grid(alpha=0.3)
