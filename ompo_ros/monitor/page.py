"""The page: viser's scene and panels behind a gate, within a frame of ours that always has the stop button."""

from __future__ import annotations

import contextlib
import io
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

import viser

from ompo_ros.monitor.access import Gate, Reply, Route, guarded
from ompo_ros.monitor.curves import Curves
from ompo_ros.monitor.panels import Panels
from ompo_ros.monitor.press import Act, Press
from ompo_ros.monitor.run_state import RunState
from ompo_ros.monitor.scene import LOOKS_AT, VIEWPOINT, ArmScene, clicked_goal
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import Task

_SHELL: Final = Path(__file__).parent / "shell.html"
_FAREWELL: Final = 2.0  # s
_ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - names of it, not a binding


class Page:
    """One web server; `on_press` is called from its threads.

    `reasons` are those that the safety filter may give, `nominal` has an arm's parameters as its maker gives them.
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        run: RunState,
        on_press: Callable[[Press], None],
        *,
        host: str,
        port: int,
        reasons: Sequence[str],
        nominal: dict[str, float],
    ) -> None:
        _check_address(host)
        self._run, self._press, self._host = run, on_press, host
        self._gate = Gate(host, self._routes())
        with guarded(self._gate), _quietly():
            self._server = viser.ViserServer(host=host, port=port, verbose=False)
        server = self._server
        server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        server.gui.set_panel_label("OMPO")
        server.initial_camera.position, server.initial_camera.look_at = VIEWPOINT, LOOKS_AT
        self.scene = ArmScene(server.scene, robot, task)
        low, high = (float(corner[2]) for corner in task.goal_box)
        self._curves = Curves(server.gui, reasons)
        self._panels = Panels(server.gui, on_press, (low, high), nominal)
        self._panels.on_goal_button(self._choose_goal)
        self._choosing = False
        server.scene.on_click()(self._on_click)

    @property
    def address(self) -> str:
        """What a person opens; beyond this machine it carries the token."""
        host = socket.gethostname() if self._host in _ANYWHERE else self._host
        query = f"?token={self._gate.token}" if self._gate.token else ""
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.get_port()}/{query}"

    @property
    def watched(self) -> bool:
        """Whether any browser is there: nothing needs to be drawn for nobody."""
        return bool(self._server.get_clients())

    def show(self, available: Collection[Act]) -> None:
        """Bring panels and curves up to the run's state."""
        self._panels.show(self._run, available)
        self._curves.show(self._run)

    def close(self) -> None:
        """End the web server; a browser that does not take its leave must not hold that up."""
        with _quietly():
            stopping = threading.Thread(target=self._server.stop, daemon=True)
            stopping.start()
            stopping.join(_FAREWELL)

    def _choose_goal(self) -> None:
        self._choosing = True
        self._run.answer(Act.GOAL.value, "click where the arm should go, at the height you chose", True)

    def _on_click(self, event: viser.SceneClickEvent) -> None:
        if not self._choosing:
            return
        goal = clicked_goal(event.ray_origin, event.ray_direction, self._panels.goal_height, self.scene.goal_box)
        if goal is None:
            return
        self._choosing = False
        self._press(Press(Act.GOAL, goal=goal))

    # -- our own paths ------------------------------------------------------------------------------------------

    def _routes(self) -> dict[str, Route]:
        shell = Reply("text/html; charset=utf-8", _SHELL.read_bytes())
        return {
            "/": Route(lambda: shell),
            "/state": Route(self._state),
            "/press/stop": Route(self._stop, presses=True),
        }

    def _stop(self) -> Reply:
        self._press(Press(Act.STOP))
        return Reply("text/plain", b"asked")

    def _state(self) -> Reply:
        """What the bar above the scene shows; read in the web server's thread, so nothing here changes anything."""
        run, now = self._run, time.monotonic()
        said = list(run.answers)[-1:]
        state = {
            "stage": run.stage(),
            "steps": steps_line(run),
            "progress": run.progress(),
            "said": f"{said[0].who}: {said[0].text}" if said else "",
            "good": bool(said and said[0].good),
            "lost": run.lost(now),
            "concern": run.concern(now),
        }
        return Reply("application/json", json.dumps(state).encode())


def steps_line(run: RunState) -> str:
    """Steps, policy and time left in one line."""
    parts = []
    if run.learner is not None:
        of_all = f" of {run.target_steps}" if run.target_steps else ""
        parts.append(f"{run.learner.target_steps}{of_all} target steps")
    if run.running_version:
        parts.append(f"policy {run.running_version}")
    left = run.time_left()
    if left is not None:
        parts.append(f"about {math.ceil(left / 60)} min left" if left > 90 else f"about {left:.0f} s left")
    return " · ".join(parts)


def _quietly() -> contextlib.redirect_stdout[io.StringIO]:
    """Keep viser from printing an address of its own, which lacks the token."""
    return contextlib.redirect_stdout(io.StringIO())


def _check_address(host: str) -> None:
    """Refuse an address that is not this machine's: viser would look for a free port there for ever."""
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((host, 0))
    except OSError as error:
        raise ValueError(
            f"host: the page cannot listen on {host!r} ({error}); give an address of this machine"
        ) from error
