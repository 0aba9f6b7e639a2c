"""A robot's standard topics as named by its driver preset, for both sides of the connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import numpy as np
from builtin_interfaces.msg import Duration, Time
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ompo_ros.control.safety import SafeCommand
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot

COMMANDS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)  # as a driver subscribes
STATES = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)  # as a joint_state_broadcaster publishes
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)  # connects to every publisher
_LONGEST = 60.0  # s that a trajectory may take

CommandMessage = Union[Float64MultiArray, JointState, JointTrajectory]  # noqa: UP007 - evaluated, unknown to mypy
_TYPES = {"forward_command": Float64MultiArray, "joint_state": JointState, "joint_trajectory": JointTrajectory}


def state_subscription_qos(robot: Robot) -> QoSProfile:
    """Only the newest state matters; best effort also connects to reliable publishers."""
    return NEWEST if robot.driver.state_reliability == "best_effort" else STATES


def topic_in(namespace: str, topic: str) -> str:
    """Put a robot's topic into its namespace; without one it stays relative to the node's."""
    return f"{namespace.rstrip('/')}/{topic}" if namespace else topic


def command_type(robot: Robot) -> type[CommandMessage]:
    """The message class of the driver's command topic."""
    kind: type[CommandMessage] = _TYPES[robot.driver.command_interface]
    return kind


def command_to_msg(robot: Robot, command: SafeCommand, stamp: Time) -> CommandMessage:
    """One setpoint or, for a trajectory controller, the motion to rest; `stamp` is the time of the command's tick."""
    if robot.driver.command_interface == "forward_command":
        return Float64MultiArray(data=command.position.tolist())
    if robot.driver.command_interface == "joint_state":
        # No velocity: an impedance controller would go on with the last one after the last message.
        return JointState(header=Header(stamp=stamp), name=list(robot.joint_names), position=command.position.tolist())
    points = [
        JointTrajectoryPoint(
            positions=knot.position.tolist(),
            velocities=knot.velocity.tolist(),
            accelerations=knot.acceleration.tolist(),
            time_from_start=_duration(knot.time - command.time),
        )
        for knot in command.knots
    ]
    return JointTrajectory(header=Header(stamp=stamp), joint_names=list(robot.joint_names), points=points)


def positions_from_msg(robot: Robot, msg: CommandMessage, now: float = 0.0) -> list[FloatArray]:
    """The setpoints of a command (7,), a control period apart, the first one a period from `now` (s of its stamp).

    ValueError says what is wrong, for example that the trajectory has already ended.
    """
    if isinstance(msg, Float64MultiArray):
        return [_sound([msg.data])[0]]
    if isinstance(msg, JointState):
        order = _order(robot, msg.name)
        return [_sound([msg.position])[0][order]]
    order = _order(robot, msg.joint_names)
    if not msg.points:
        raise ValueError("the trajectory needs at least one point")
    table = _sound([point.positions for point in msg.points])[:, order]
    times = np.array([point.time_from_start.sec + point.time_from_start.nanosec * 1e-9 for point in msg.points])
    stamp = msg.header.stamp.sec + msg.header.stamp.nanosec * 1e-9
    age = now - stamp if stamp else 0.0
    if not 0.0 <= times[-1] - age <= _LONGEST:
        raise ValueError(f"the trajectory ends {times[-1] - age:.2f} s from now, 0 to {_LONGEST:g} is allowed")
    wanted = age + np.arange(1, max(int(np.ceil((times[-1] - age) / robot.period - 1e-6)), 1) + 1) * robot.period
    return list(np.stack([np.interp(wanted, times, column) for column in table.T], axis=-1))


def _order(robot: Robot, names: Sequence[str]) -> list[int]:
    if sorted(names) != sorted(robot.joint_names):
        raise ValueError(f"it names {list(names)}, the arm has {list(robot.joint_names)}")
    return [list(names).index(name) for name in robot.joint_names]


def _sound(rows: Sequence[Sequence[float]]) -> FloatArray:
    if any(len(row) != JOINTS for row in rows) or not np.isfinite(table := np.array(rows)).all():
        raise ValueError(f"each setpoint needs {JOINTS} finite positions")
    return table


def _duration(seconds: float) -> Duration:
    whole = int(seconds)
    return Duration(sec=whole, nanosec=round((seconds - whole) * 1e9))
