"""Deploys the shipped policy and sends it goals on the topic, one after another: how many it reaches.

Usage: benchmarks/goals.py [--goals N] [--seed N] [--target franka_sim] [ARGUMENT:=VALUE ...]

Every attempt begins where the last one ended. Prints one JSON object: {"goals": .., "reached": .., "worst_mm": ..,
"stops": .., "late_ticks": .., "ticks": ..}, and what fci_driver counts. `stops` is how often the robot stopped
by itself, by a reflex or otherwise, as fci_driver reports it; nothing recovers it here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped

from ompo_ros.task.tasks import Task

NAMESPACE: Final = "/ompo"
_START: Final = 120.0  # s until the arm moves; the first time the stand-in downloads its packages
_ATTEMPT: Final = 30.0  # s for one goal, which takes two


class Sender:
    """Sends goals as any node may, and follows the diagnostics."""

    def __init__(self) -> None:
        self.node = rclpy.create_node("goals")
        self._goals = self.node.create_publisher(PointStamped, f"{NAMESPACE}/goal", 1)
        self.statuses: dict[str, dict[str, str]] = {}
        self.stops, self._is_stopped = 0, False
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)

    def _on_report(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            values = {entry.key: entry.value for entry in status.values}
            self.statuses[status.name] = {**values, "message": status.message}
            if status.name.endswith("fci_driver: robot"):
                stopped = status.level == DiagnosticStatus.ERROR
                self.stops += stopped and not self._is_stopped
                self._is_stopped = stopped

    @property
    def control(self) -> dict[str, str]:
        return self.statuses.get(f"{NAMESPACE}/policy_controller: control", {})

    def wait(self, condition: Callable[[], object], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} did not come within {seconds:g} s; last: {self.control.get('message')}")
            rclpy.spin_once(self.node, timeout_sec=0.05)

    def reach(self, goal: np.ndarray) -> tuple[bool, float]:
        """Send one goal; whether it was reached, and the distance in m left at the end."""
        before = int(self.control["attempts"])
        message = PointStamped()
        message.header.frame_id = self.control["frame"]
        message.point.x, message.point.y, message.point.z = goal.tolist()
        self._goals.publish(message)
        self.wait(lambda: int(self.control["attempts"]) > before, _ATTEMPT, "an attempt's end")
        outcome = self.control["goal_outcome"]
        return outcome.startswith("reached"), float(outcome.split(": ")[1].split(" mm")[0]) / 1e3


@contextlib.contextmanager
def deployed(target: str, arguments: list[str]) -> Iterator[None]:
    """The launch, ended by Ctrl-C as a user ends it."""
    command = ["ros2", "launch", "ompo_ros", "deploy.launch.py", f"target:={target}", "enabled:=true", "view:=false"]
    launch = subprocess.Popen([*command, *arguments], stdout=sys.stderr)
    try:
        yield
    finally:
        launch.send_signal(signal.SIGINT)
        launch.wait()


def main() -> None:
    """Send seeded goals of the task's box."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goals", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="franka_sim")
    parser.add_argument("arguments", nargs="*", help="of deploy.launch.py")
    given = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    goals = Task("reach", "dense").goals(np.random.default_rng(given.seed).random((given.goals, 3)))
    rclpy.init()
    sender = Sender()
    with deployed(given.target, given.arguments):
        sender.wait(lambda: sender.control.get("message") == "running", _START, "the running arm")
        outcomes = [sender.reach(goal) for goal in goals]
    figures = {
        "goals": given.goals,
        "reached": sum(reached for reached, _ in outcomes),
        "worst_mm": round(max(distance for _, distance in outcomes) * 1e3, 1),
        "stops": sender.stops,
        "late_ticks": int(sender.control["late_ticks"]),
        "ticks": int(sender.control["ticks"]),
    }
    driver = sender.statuses.get(f"{NAMESPACE}/fci_driver: robot", {})
    figures |= {name: int(driver[name]) for name in ("cycles", "lost_packets", "late_cycles") if name in driver}
    rclpy.shutdown()
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
