"""What each kind of driver is sent, and that the stand-in reads it as that driver would."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from ompo_ros.control.safety import ArmState, SafetyFilter
from ompo_ros.nodes.wire.robot_topics import command_to_msg, command_type, positions_from_msg
from ompo_ros.task.robot import load_robot

STAMP = Time(sec=7)


def commanded(robot):
    """The second of two commands, on the way to a posture nearby."""
    safety = SafetyFilter(robot)
    for k in range(2):
        now = 7.0 + k * robot.period
        command = safety.filter(ArmState(robot.home, np.zeros(7), now), robot.home + 0.05, now)
    return command


@pytest.mark.parametrize("driver", ["ros2_control", "crisp"])
def test_a_setpoint_reaches_a_driver_as_it_left_the_filter(driver):
    robot = load_robot("fr3", driver)
    command = commanded(robot)
    message = command_to_msg(robot, command, STAMP)
    assert isinstance(message, command_type(robot))
    np.testing.assert_array_equal(positions_from_msg(robot, message), [command.position])


def test_an_impedance_controller_gets_positions_by_name_and_no_velocity_to_go_on_with():
    robot = load_robot("fr3", "crisp")
    message = command_to_msg(robot, commanded(robot), STAMP)
    assert type(message) is JointState
    assert (message.name, message.header.stamp) == (list(robot.joint_names), STAMP)
    assert not message.velocity


def test_joint_states_are_taken_by_name():
    robot = load_robot("fr3", "crisp")
    backwards = JointState(name=list(reversed(robot.joint_names)), position=robot.home[::-1].tolist())
    np.testing.assert_array_equal(positions_from_msg(robot, backwards), [robot.home])


@pytest.mark.parametrize("driver", ["ros2_control", "crisp", "franka_ros2"])
@pytest.mark.parametrize("positions", [[0.0] * 6, [0.0] * 6 + [math.nan], []])
def test_a_command_with_one_unsound_setpoint_is_refused_whole(driver, positions):
    robot = load_robot("fr3", driver)
    message = command_type(robot)()
    if driver == "ros2_control":
        message.data = positions
    elif driver == "crisp":
        message.name, message.position = list(robot.joint_names), positions
    else:
        message.joint_names = list(robot.joint_names)
        message.points = [JointTrajectoryPoint(positions=each) for each in (robot.home.tolist(), positions)]
    with pytest.raises(ValueError, match="7 finite positions"):
        positions_from_msg(robot, message)


def test_a_command_for_other_joints_is_refused():
    robot = load_robot("fr3", "crisp")
    with pytest.raises(ValueError, match=r"it names .*panda_joint1.*the arm has .*fr3_joint1"):
        positions_from_msg(robot, JointState(name=list(load_robot("panda").joint_names), position=[0.0] * 7))
