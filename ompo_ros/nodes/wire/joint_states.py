"""The arm's newest joint state, or the problem with it."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node
from sensor_msgs.msg import JointState

from ompo_ros.control.observation import BadJointState, ForeignJointState, JointStateReader
from ompo_ros.control.safety import ArmState
from ompo_ros.nodes.wire.loop_clock import LoopClock
from ompo_ros.nodes.wire.robot_topics import STATES, state_subscription_qos, topic_in
from ompo_ros.task.robot import Robot


class JointStates:
    """Keeps the newest state; calls `in_step`, if given, with the time of each state, valid or not."""

    def __init__(
        self,
        node: Node,
        robot: Robot,
        namespace: str,
        clock: LoopClock,
        in_step: Callable[[float], None] | None = None,
    ) -> None:
        self.state: ArmState | None = None
        self.fault = ""
        self.refused = 0  # of our arm
        self._log = node.get_logger()
        self._heard = 0.0
        self._reader, self._clock, self._in_step = JointStateReader(robot), clock, in_step
        # In lockstep every state is needed: the robot waits for the answer to it.
        profile = state_subscription_qos(robot) if in_step is None else STATES
        node.create_subscription(JointState, topic_in(namespace, robot.driver.state_topic), self._on_state, profile)

    @property
    def silence(self) -> float:
        """Seconds since the last valid state."""
        return time.monotonic() - self._heard

    def _on_state(self, msg: JointState) -> None:
        stamp = msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9
        now = self._clock.now() if self._in_step is None else stamp
        try:
            position, velocity = self._reader.read(msg.name, msg.position, msg.velocity)
            self.state = ArmState(position, velocity, now, self._reader.efforts(msg.effort))
            self.fault, self._heard = "", time.monotonic()
        except ForeignJointState as error:
            if self.state is None:
                self.fault = str(error)
            return
        except BadJointState as error:
            self.fault, self.refused = str(error), self.refused + 1
            self._log.warning(f"joint state refused: {error}", throttle_duration_sec=5.0)
        if self._in_step is not None:
            self._in_step(now)
