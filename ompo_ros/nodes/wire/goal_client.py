"""Sends a goal to a policy controller from a shell, and waits for what comes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import rclpy
from geometry_msgs.msg import PointStamped

from ompo_ros.control.attempts import UNDER_WAY, spelled
from ompo_ros.control.controller import ENABLE, ControllerPhase
from ompo_ros.nodes.wire.arm_reports import ArmReport, ArmReports
from ompo_ros.nodes.wire.goal import goal_msg

STANDS = "the arm does not move"
_TIMEOUT = 10.0  # s; discovery alone may take three, reports come once a second
_ATTEMPT = 120.0  # s; an attempt takes two where time is real


class RefusedGoal(ValueError):
    """A goal that the controller would not take; the message says where goals lie."""


class GoalClient:
    """The policy controller of a namespace."""

    def __init__(self, namespace: str) -> None:
        space = namespace.rstrip("/")
        self._name, self._topic = f"{space}/policy_controller", f"{space}/goal"

    def send(self, goal: Sequence[float]) -> Iterator[str]:
        """Give a line for each thing that happens: accepted, then reached, missed or waiting."""
        rclpy.init()
        try:
            self._node = rclpy.create_node("ompo_goal")
            self._reports = ArmReports(self._node)
            self._publisher = self._node.create_publisher(PointStamped, self._topic, 1)
            yield from self._follow(goal)
        finally:
            rclpy.try_shutdown()

    def _follow(self, goal: Sequence[float]) -> Iterator[str]:
        if not self._wait(lambda: self._report is not None and self._is_heard(), _TIMEOUT):
            raise ConnectionError(
                f"no {self._name} answers: start one by `ros2 launch ompo_ros deploy.launch.py`, "
                "or give its --namespace"
            )
        figures, wanted = self._figures, spelled(np.array(goal))
        _check(goal, figures)
        number = int(figures["goals"])
        self._publisher.publish(goal_msg(self._node, figures["frame"], np.array(goal)))
        if not self._wait(lambda: int(self._figures["goals"]) > number, _TIMEOUT):
            raise ConnectionError(f"{self._name} did not take the goal within {_TIMEOUT:g} s: see its log")
        yield f"goal {wanted} accepted"
        yield self._outcome(wanted, number + 1)

    def _outcome(self, wanted: str, number: int) -> str:
        """How the attempt ended, or why there is none."""

        def is_over() -> bool:
            figures = self._figures
            waits = figures["phase"] != ControllerPhase.RUNNING.value
            return waits or figures["goal_outcome"] != UNDER_WAY or int(figures["goals"]) != number

        if not self._wait(is_over, _ATTEMPT):
            return f"goal {wanted} is still under way after {_ATTEMPT:g} s"
        figures = self._figures
        if int(figures["goals"]) != number:
            return f"goal {wanted} was replaced by another one, {figures['goal']}"
        if figures["goal_outcome"] != UNDER_WAY:
            return f"goal {wanted} {figures['goal_outcome']}"
        waits = figures["phase"] in (ControllerPhase.DISABLED.value, ControllerPhase.STOPPED.value)
        hint = f": run `{ENABLE}`" if waits else ""
        return f"{STANDS} ({self._report.message if self._report else 'no report'}){hint}"

    @property
    def _report(self) -> ArmReport | None:
        return self._reports.newest.get(self._name)

    @property
    def _figures(self) -> dict[str, str]:
        return self._report.figures if self._report else {}

    def _is_heard(self) -> bool:
        """Whether the controller, among all that listen, gets what is published now."""
        listeners = self._node.get_subscriptions_info_by_topic(self._topic)
        names = {f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in listeners}
        return self._name in names and self._publisher.get_subscription_count() >= len(listeners)

    def _wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            rclpy.spin_once(self._node, timeout_sec=0.05)
        return True


def _check(goal: Sequence[float], figures: dict[str, str]) -> None:
    """Refuse here what the controller would only log."""
    low, high = (np.array([float(x) for x in figures[name].split()]) for name in ("goal_low", "goal_high"))
    inside = np.isfinite(goal).all() and (low <= goal).all() and (goal <= high).all()
    if not inside:
        raise RefusedGoal(
            f"goal {spelled(np.array(goal))} is out of the box that policies are trained for: "
            f"{spelled(low)} to {spelled(high)} (x y z in {figures['frame']}, m)"
        )
