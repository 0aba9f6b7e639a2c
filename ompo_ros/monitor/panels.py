"""The page's buttons and tables; a press is handed on, its answer comes back with the run's state."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import viser

from ompo_ros.monitor.press import Act, Press
from ompo_ros.monitor.run_state import PAUSED, RunState
from ompo_ros.monitor.tables import belief_table, lines_table, policies_table

_LEARNING: Final = frozenset({Act.PAUSE, Act.RESUME, Act.SAVE})
_WIDTH: Final = 400


class Panels:
    """The panel on the right: the run, its policies, what is known of the arm."""

    def __init__(
        self,
        gui: viser.GuiApi,
        on_press: Callable[[Press], None],
        heights: tuple[float, float],
        nominal: dict[str, float],
    ) -> None:
        self._press, self._nominal = on_press, nominal
        self._buttons: dict[Act, viser.GuiButtonHandle] = {}
        self._gui = gui
        tabs = gui.add_tab_group()
        with tabs.add_tab("Run"):
            self._add_run(heights)
        with tabs.add_tab("Policies"):
            self._add_policies()
        with tabs.add_tab("Arm as identified"):
            self._belief = gui.add_html("")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(_WIDTH)

    def _add_run(self, heights: tuple[float, float]) -> None:
        gui = self._gui
        with gui.add_folder("Arm"):
            self._button(Act.ENABLE, "Enable", "Lets the arm move.", "green")
            self._episodes = gui.add_number("Episodes", 10, min=1, max=1000, step=1)
            self._button(Act.EVALUATE, "Evaluate", "Plays episodes without exploring, with the policy that runs.", None)
        with gui.add_folder("Learning") as self._learning:
            self._button(
                Act.PAUSE, "Pause learning", "No updates until you resume; the arm waits for its learner.", None
            )
            self._button(Act.RESUME, "Resume learning", "Goes on with updates.", "green")
            self._button(Act.SAVE, "Save a checkpoint", "Writes one now, besides those it writes by itself.", None)
        with gui.add_folder("Goal") as self._goal:
            low, high = heights
            self._height = gui.add_slider("Height, m", low, max(high, low + 0.01), 0.01, min(max(0.15, low), high))
            self._button(Act.GOAL, "Click a goal", "The next click in the scene sends the arm there.", "blue")
        with gui.add_folder("Answers"):
            self._answers = gui.add_html("")
        with gui.add_folder("Warnings"):
            self._warnings = gui.add_html("")

    def _add_policies(self) -> None:
        gui = self._gui
        self._policies = gui.add_html("")
        with gui.add_folder("Move stable"):
            self._version = gui.add_dropdown("Version", ("none",))
            self._button(Act.ACTIVATE, "Activate", "Stable becomes this version; the gate may move it on.", None)
            self._button(Act.PIN, "Activate and pin", "Stable stays on this version until you move it.", None)
            self._button(Act.ROLL_BACK, "Roll back", "Stable goes back to the version before, pinned.", "orange")

    def _button(self, act: Act, label: str, hint: str, colour: str | None) -> None:
        button = self._gui.add_button(label, hint=hint, color=colour, disabled=True)  # type: ignore[arg-type]
        self._buttons[act] = button
        if act is not Act.GOAL:
            button.on_click(lambda _: self._press(Press(act, self._number(act))))

    def _number(self, act: Act) -> int:
        if act is Act.EVALUATE:
            return int(self._episodes.value)
        chosen = self._version.value.split(" ")[0]
        return int(chosen) if act in (Act.ACTIVATE, Act.PIN) and chosen.isdigit() else 0

    @property
    def goal_height(self) -> float:
        return float(self._height.value)

    def on_goal_button(self, begin: Callable[[], None]) -> None:
        """Have the button of goals begin a choice in the scene."""
        self._buttons[Act.GOAL].on_click(lambda _: begin())

    def show(self, run: RunState, available: Collection[Act]) -> None:
        """Show the run's state, and which buttons anybody would answer."""
        paused = run.learner is not None and run.learner.state == PAUSED
        for act, button in self._buttons.items():
            _set(button, "disabled", act not in available)
        _set(self._buttons[Act.PAUSE], "visible", not paused)
        _set(self._buttons[Act.RESUME], "visible", paused)
        _set(self._learning, "visible", bool(_LEARNING & set(available)) or run.learner is not None)
        _set(self._goal, "visible", Act.GOAL in available)
        _set(self._buttons[Act.EVALUATE], "label", run.evaluation or "Evaluate")
        _set(self._answers, "content", lines_table(run.answers, "What you press is answered here."))
        _set(self._warnings, "content", lines_table(run.warnings, "None so far."))
        _set(self._policies, "content", policies_table(run.policies, run.running_version))
        _set(self._belief, "content", belief_table(run.belief, self._nominal, run.truth))
        options = tuple(str(row.version) for row in sorted(run.policies, reverse=True)) or ("none",)
        if options != tuple(self._version.options):
            chosen = self._version.value
            self._version.options = options
            if chosen in options:
                self._version.value = chosen  # type: ignore[misc] # viser lets it be set


def _set(handle: object, name: str, value: object) -> None:
    """Change a property only where it differs: each change is a message to every browser."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
