"""A stand-in robot: a simulated arm with hidden parameters behind the topics of a real arm's driver."""

from __future__ import annotations

import time

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMsg
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ompo_ros.nodes.parameters import RobotSimParameters
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import STEADY, run, run_in_real_time
from ompo_ros.nodes.wire.robot_topics import (
    COMMANDS,
    STATES,
    CommandMessage,
    command_type,
    positions_from_msg,
    topic_in,
)
from ompo_ros.parameters import InvalidParameter
from ompo_ros.sim.stand_in import Measurement, make_stand_in
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

_LOCKSTEP_PATIENCE = 0.3  # s without a command after which a lockstep robot continues by itself
_MAX_CATCH_UP = 10  # publish periods caught up at once after a pause of the machine


class RobotSim(Node):
    """Publishes joint states and accepts position commands, at any speed or in lockstep with its commands."""

    def __init__(self) -> None:
        super().__init__("robot_sim", **OVERRIDES)
        given = declare(self, RobotSimParameters)
        self._rate, self._factor = given.publish_rate, given.real_time_factor
        self._robot = load_robot(given.robot, given.driver)
        task = Task(given.task, "dense")
        self._has_cube, self._frame = task.has_cube, task.on(self._robot).frame
        self._arm = make_stand_in(
            given.simulator,
            given.domain,
            task,
            self._robot,
            seed=given.seed,
            command_timeout=given.command_timeout,
        )
        self._require_whole_timesteps()
        self._queue: list[FloatArray] = []  # remaining setpoints of a trajectory
        self._next_setpoint = 0.0
        namespace, driver = given.robot_namespace, self._robot.driver
        self._states = self.create_publisher(JointState, topic_in(namespace, driver.state_topic), STATES)
        self._cube = self.create_publisher(PointStamped, topic_in(namespace, "cube"), STATES)
        self._clock_topic = self.create_publisher(ClockMsg, "/clock", STATES) if self._factor != 1.0 else None
        topic = topic_in(namespace, driver.command_topic)
        lockstep = self._factor == 0.0
        on_command = self._on_lockstep_command if lockstep else self._on_command
        self.create_subscription(command_type(self._robot), topic, on_command, COMMANDS)
        self._started, self._published = time.monotonic(), 0
        period = _LOCKSTEP_PATIENCE if lockstep else 1.0 / (self._rate * self._factor)
        # It publishes simulated time, so it must not use it itself.
        self._timer = self.create_timer(period, self._lockstep if lockstep else self._on_timer, clock=STEADY)
        if self._factor == 1.0:
            run_in_real_time(self)
        pace = "in lockstep" if lockstep else f"at {self._factor:g} x real time"
        where = f"{given.simulator}, domain {given.domain}, {pace}"
        self.get_logger().info(f"{given.robot} in {where}, commands on {topic}")

    def _require_whole_timesteps(self) -> None:
        substeps = 1.0 / (self._rate * self._arm.timestep)
        if abs(substeps - round(substeps)) > 1e-6:
            physics = 1.0 / self._arm.timestep
            raise InvalidParameter("publish_rate", f"{self._rate:g} does not divide the physics' {physics:g} Hz")

    def _on_command(self, msg: CommandMessage) -> None:
        """Use the first setpoint at once, and queue the others for their time."""
        try:
            first, *rest = positions_from_msg(self._robot, msg, self._stamp_now())
            self._arm.command(first)
            self._queue = rest
            self._next_setpoint = self._arm.time + self._robot.period
        except ValueError as error:
            self.get_logger().error(f"refused a command: {error}", throttle_duration_sec=1.0)

    def _on_lockstep_command(self, msg: CommandMessage) -> None:
        self._on_command(msg)
        self._queue.clear()
        self._timer.reset()
        self._lockstep()

    def _lockstep(self) -> None:
        self._arm.advance(self._robot.period)
        self._publish()

    def _on_timer(self) -> None:
        due = round((time.monotonic() - self._started) * self._factor * self._rate) - self._published
        if due > _MAX_CATCH_UP:
            self.get_logger().warning(f"{due - 1} joint states behind real time", throttle_duration_sec=5.0)
            self._started, self._published, due = time.monotonic(), 0, 1
        for _ in range(due):
            self._published += 1
            self._follow_trajectory()
            was_holding = self._arm.is_holding
            self._arm.advance(1.0 / self._rate)
            if self._arm.is_holding and not was_holding:
                self.get_logger().info("no command in time: holding position", throttle_duration_sec=5.0)
        if due > 0:
            self._publish()

    def _follow_trajectory(self) -> None:
        if self._queue and self._arm.time >= self._next_setpoint - 1e-9:
            self._arm.command(self._queue.pop(0))
            self._next_setpoint += self._robot.period

    def _stamp_now(self) -> float:
        """The time that commands are stamped with."""
        return self._arm.time if self._clock_topic else float(self.get_clock().now().nanoseconds) * 1e-9

    def _publish(self) -> None:
        measured: Measurement = self._arm.measured
        stamp = self.get_clock().now().to_msg()
        if self._clock_topic is not None:
            stamp = Time(sec=int(self._arm.time), nanosec=int(np.fmod(self._arm.time, 1.0) * 1e9))
            self._clock_topic.publish(ClockMsg(clock=stamp))
        if self._has_cube:
            cube = PointStamped(header=Header(stamp=stamp, frame_id=self._frame))
            cube.point.x, cube.point.y, cube.point.z = measured.cube.tolist()
            self._cube.publish(cube)
        self._states.publish(
            JointState(
                header=Header(stamp=stamp),
                name=list(self._robot.joint_names),
                position=measured.position.tolist(),
                velocity=measured.velocity.tolist(),
            )
        )


def main() -> None:
    """Run the stand-in robot until it is stopped."""
    run(RobotSim)


if __name__ == "__main__":
    main()
