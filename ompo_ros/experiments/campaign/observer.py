"""Records an arm's topics in a separate process, with arrival times. It sends nothing.

Runs as `python -m ompo_ros.experiments.campaign.observer FILE --driver DRIVER`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from ompo_msgs.msg import LearnerStatus
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ompo_ros.experiments.campaign.limits import Limits, limits_behind
from ompo_ros.experiments.campaign.recording import COMMAND, STATE, STATUS

# As a driver subscribes, with room for commands that arrive while this process waits for a core.
_COMMANDS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
_STATES = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
_STATUS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_TRUSTED = 2.0  # s by which the time of arrival may differ from the callback's
Info = dict[str, int]


class Observer(Node):
    """Writes each message with the times at which it was sent and at which it reached the network layer here."""

    def __init__(self, path: Path, limits: Limits, namespace: str) -> None:
        super().__init__("campaign_observer", namespace=namespace)
        self._file = path.open("w", buffering=1)
        self._limits = limits
        # One difference for all: two readings would shift the stamps against each other.
        self._monotonic_at_epoch = time.monotonic_ns() - time.time_ns()
        command = JointTrajectory if limits.is_trajectory else Float64MultiArray
        on_command = self._on_trajectory if limits.is_trajectory else self._on_setpoint
        self._listen(command, limits.command_topic, on_command, _COMMANDS)
        self._listen(JointState, limits.state_topic, self._on_state, _STATES)
        self._listen(LearnerStatus, "status", self._on_status, _STATUS)

    def _listen(self, kind: type, topic: str, on_message: Callable[[Any, Info], None], qos: QoSProfile) -> None:
        self.create_subscription(kind, topic, on_message, qos)  # type: ignore[arg-type] # rclpy's types forget the info

    def _on_setpoint(self, msg: Float64MultiArray, info: Info) -> None:
        if len(msg.data) == len(self._limits.joint_names):  # a driver refuses others
            point = {"offset": 0.0, "position": list(msg.data), "velocity": [], "acceleration": []}
            self._write(COMMAND, info, stamp=None, points=[point])

    def _on_trajectory(self, msg: JointTrajectory, info: Info) -> None:
        names = list(msg.joint_names)
        if sorted(names) != sorted(self._limits.joint_names):
            return
        order = [names.index(name) for name in self._limits.joint_names]
        points = [
            {
                "offset": point.time_from_start.sec + point.time_from_start.nanosec * 1e-9,
                "position": [point.positions[i] for i in order],
                "velocity": [point.velocities[i] for i in order] if point.velocities else [],
                "acceleration": [point.accelerations[i] for i in order] if point.accelerations else [],
            }
            for point in msg.points
            if len(point.positions) == len(names)
        ]
        stamp = msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec
        self._write(COMMAND, info, stamp=self._monotonic(stamp) if stamp else None, points=points)

    def _on_state(self, msg: JointState, info: Info) -> None:
        at = dict(zip(msg.name, msg.position, strict=False))
        if set(self._limits.joint_names) <= set(at):
            self._write(STATE, info, position=[at[name] for name in self._limits.joint_names])

    def _on_status(self, msg: LearnerStatus, info: Info) -> None:
        self._write(STATUS, info, target_steps=int(msg.target_steps))

    def _monotonic(self, nanoseconds: int) -> float:
        """Seconds on the monotonic clock, subtracted as whole numbers: a float of the epoch is too coarse for jerk."""
        return (nanoseconds + self._monotonic_at_epoch) * 1e-9

    def _write(self, kind: str, info: Info, **values: object) -> None:
        now = time.monotonic()
        sent, arrived = (self._monotonic(info[f"{name}_timestamp"]) for name in ("source", "received"))
        when = arrived if abs(arrived - now) < _TRUSTED else now
        row = {"kind": kind, "time": when, "sent": sent, "number": info["publication_sequence_number"], **values}
        self._file.write(json.dumps(row) + "\n")


def main() -> None:
    """Listen until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--driver", default="")
    parser.add_argument("--namespace", default="/ompo")
    arguments = parser.parse_args()
    rclpy.init()
    rclpy.spin(Observer(arguments.file, limits_behind(arguments.driver), arguments.namespace))


if __name__ == "__main__":
    main()
