"""An arm that is always where it was last sent, and speaks only when the test lets it: its silence needs no timing."""

import time

from builtin_interfaces.msg import Time
from rclpy.clock import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.task.robot import Robot

_PATIENCE = 0.3  # s without a command after which it goes on by itself, as a stand-in in lockstep does


class EchoArm:
    """A robot in the test's own process, in real time or in lockstep with its commands."""

    def __init__(self, probe, robot: Robot, *, lockstep: bool) -> None:
        self._robot, self._lockstep = robot, lockstep
        self._position = robot.home.tolist()
        self._periods, self._answered, self._spoke = 0, True, 0.0
        self._states = probe.node.create_publisher(JointState, f"/ompo/{robot.driver.state_topic}", STATES)
        topic = f"/ompo/{robot.driver.command_topic}"
        probe.node.create_subscription(Float64MultiArray, topic, self._on_command, COMMANDS)

    def _on_command(self, msg: Float64MultiArray) -> None:
        self._position, self._answered = list(msg.data), True

    def speak(self) -> None:
        """Say where it is; in lockstep, a period after the command that answered the last time."""
        if self._lockstep and not self._answered and time.monotonic() - self._spoke < _PATIENCE:
            return
        self._periods, self._answered, self._spoke = self._periods + 1, False, time.monotonic()
        names, still = list(self._robot.joint_names), [0.0] * len(self._position)
        state = JointState(header=Header(stamp=self._stamp()), name=names, position=self._position, velocity=still)
        self._states.publish(state)

    def _stamp(self) -> Time:
        if not self._lockstep:
            return Clock().now().to_msg()
        nanoseconds = round(self._periods * self._robot.period * 1e9)
        return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
