"""The charts beside the scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
import viser

from ompo_ros.monitor.history import History
from ompo_ros.monitor.run_state import RunState
from ompo_ros.task.kinematics import FloatArray

_COLOURS: Final = ("#63a4ff", "#63d68b", "#ffb454", "#ff8f7a", "#c79bff", "#5ad1d8", "#f5e663", "#ff9ad5")
_TEXT: Final = "#9aa4b2"
_LINES: Final = {"stroke": "#8883", "width": 1}
_HEIGHT: Final = 92  # pixels; six of them fit on a screen


class _Chart:
    """One chart; its data go out only when there are new ones."""

    def __init__(self, gui: viser.GuiApi, title: str, curves: Sequence[str], percent: bool = False) -> None:
        axis: dict[str, Any] = {
            "stroke": _TEXT,
            "grid": _LINES,
            "ticks": {"show": False},
            "size": 38,
            "font": "10px system-ui",
        }
        series: list[dict[str, Any]] = [{"label": "min"}]
        series += [
            {"label": name, "stroke": colour, "width": 1.5, "spanGaps": True, "points": {"show": False}}
            for name, colour in zip(curves, _COLOURS, strict=False)
        ]
        self._sent = -1
        self.handle = gui.add_uplot(
            History(len(curves)).columns,
            cast(Any, tuple(series)),  # its own typed dictionaries, each a dictionary
            title=title,
            scales={"x": {"time": False}, "y": {"range": (-2.0, 102.0)} if percent else {"auto": True}},
            axes=(cast(Any, {**axis, "size": 26}), cast(Any, axis)),
            legend={"show": len(curves) > 1, "live": False},
            cursor={"show": False},
            height=_HEIGHT,
            padding=(6, 14, 0, 0),
        )

    def show(self, columns: tuple[FloatArray, ...]) -> None:
        if self.handle.visible and len(columns[0]) != self._sent:
            self._sent = len(columns[0])
            self.handle.data = columns


class Curves:
    """All charts in a panel of their own."""

    def __init__(self, gui: viser.GuiApi, reasons: Sequence[str]) -> None:
        self._reasons = list(reasons)
        panel = gui.add_panel()
        with panel.add_tab("Curves over minutes"):
            self._success = _Chart(gui, "Success, % of 10 episodes", ("exploring", "evaluated"), percent=True)
            self._return = _Chart(gui, "Return, mean of 10 episodes", ("return",))
            self._r = _Chart(gui, "R of recent (local) and all (global) data", ("local", "global"))
            self._updates = _Chart(gui, "Updates per second", ("updates",))
            self._late = _Chart(gui, "Late ticks, %", ("late",))
            self._filter = _Chart(gui, "Commands the safety filter changed, %", self._reasons)
        panel.dock_left()
        panel.set_width(330)

    def show(self, run: RunState) -> None:
        """Send what is new; charts of the learner only where there is one."""
        for chart in (self._r, self._updates):
            if chart.handle.visible != (run.learner is not None):
                chart.handle.visible = run.learner is not None
        self._success.show(run.success.columns)
        self._return.show(run.episode_return.columns)
        self._r.show(run.r.columns)
        self._updates.show(run.updates.columns)
        self._late.show(run.late.columns)
        self._filter.show(_by_reason(run.late, run.filtered, self._reasons))


def _by_reason(axis: History, found: dict[str, History], reasons: Sequence[str]) -> tuple[FloatArray, ...]:
    """Curves that began at different times on one axis; a reason that never came changed nothing."""
    x = axis.columns[0]
    curves = [found[reason].columns if reason in found else None for reason in reasons]
    return (x, *(np.zeros_like(x) if curve is None else np.interp(x, curve[0], curve[1], left=0.0) for curve in curves))
