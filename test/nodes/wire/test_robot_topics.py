"""What each kind of driver is sent, and that the stand-in reads it as that driver would."""

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

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
