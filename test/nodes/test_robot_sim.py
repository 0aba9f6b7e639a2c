"""The stand-in robot over DDS: exactly a real arm's topics, in its own time or in lockstep."""

import math

import launch
import launch_pytest
import numpy as np
import pytest
from geometry_msgs.msg import PointStamped
from graphs import PATIENT
from launch_ros.actions import Node as NodeAction
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("panda")
FORWARD = "/ompo/forward_position_controller/commands"
TRAJECTORY = "/ompo/joint_trajectory_controller/joint_trajectory"


def robot_sim(**parameters):
    defaults = {"simulator": "mujoco", "domain": "nominal", "real_time_factor": 0.0}
    return NodeAction(
        package="ompo_ros",
        executable="robot_sim",
        namespace="ompo",
        parameters=[{**defaults, **parameters}],
        output="screen",
        cached_output=True,
        **PATIENT,
    )


def described(action):
    return launch.LaunchDescription([action, launch_pytest.actions.ReadyToTest()])


@launch_pytest.fixture
def lockstep(ros_domain):
    return described(robot_sim(task="push"))


@launch_pytest.fixture
def fast(ros_domain):
    return described(robot_sim(real_time_factor=5.0, command_timeout=0.2))


@launch_pytest.fixture
def trajectories(ros_domain):
    return described(robot_sim(driver="multipanda_ros2", real_time_factor=2.0))


def stamp(state):
    return state.header.stamp.sec + state.header.stamp.nanosec * 1e-9


@pytest.mark.launch(fixture=lockstep)
def test_in_lockstep_each_command_is_one_control_period(probe):
    states = probe.listen(JointState, "/ompo/joint_states", STATES)
    cubes = probe.listen(PointStamped, "/ompo/cube", STATES)
    clocks = probe.listen(Clock, "/clock", STATES)
    commands = probe.node.create_publisher(Float64MultiArray, FORWARD, COMMANDS)
    # It tells where it is though nobody commands it, so that nobody waits for ever.
    probe.spin_until(lambda: states and cubes and clocks and commands.get_subscription_count() == 1)
    assert states[0].name == list(ROBOT.joint_names)
    assert len(states[0].velocity) == 7
    target = ROBOT.home + 0.2
    for _ in range(30):
        count = len(states)
        commands.publish(Float64MultiArray(data=target.tolist()))
        probe.spin_until(lambda count=count: len(states) > count)
    np.testing.assert_allclose(np.diff([stamp(state) for state in states]), 0.04, atol=1e-6)
    np.testing.assert_allclose(states[-1].position, target, atol=0.02)


@pytest.mark.launch(fixture=fast)
def test_senseless_commands_change_nothing_and_without_sound_ones_in_time_it_holds(probe):
    states = probe.listen(JointState, "/ompo/joint_states", STATES)
    commands = probe.node.create_publisher(Float64MultiArray, FORWARD, COMMANDS)
    probe.spin_until(lambda: states and commands.get_subscription_count() == 1)
    for senseless in ([float("nan")] * 7, [0.0] * 3, []):
        commands.publish(Float64MultiArray(data=senseless))
    begun = stamp(states[-1])
    probe.spin_until(lambda: stamp(states[-1]) > begun + 0.5)
    start = np.array(states[-1].position)
    np.testing.assert_allclose(start, ROBOT.home, atol=0.01)
    commands.publish(Float64MultiArray(data=(start + 0.05).tolist()))
    probe.spin_until(lambda: np.abs(np.array(states[-1].position) - start).max() > 0.001)
    moved = stamp(states[-1])
    probe.spin_until(lambda: stamp(states[-1]) > moved + 1.0)
    held = np.array(states[-1].position)
    assert 0.001 < np.abs(held - start).max() < 0.1  # the one command moved it, then it held
    probe.spin_until(lambda: stamp(states[-1]) > moved + 2.0)
    np.testing.assert_allclose(states[-1].position, held, atol=0.005)


def trajectory_to(target):
    trajectory = JointTrajectory(joint_names=list(reversed(ROBOT.joint_names)))
    for share in np.linspace(0.0, 1.0, 26)[1:]:
        point = JointTrajectoryPoint(positions=(ROBOT.home + share * (target - ROBOT.home))[::-1].tolist())
        point.time_from_start.nanosec = round(share * 999_999_999)
        trajectory.points.append(point)
    return trajectory


@pytest.mark.launch(fixture=trajectories)
def test_a_trajectory_is_followed_to_its_end_by_joint_name(probe):
    states = probe.listen(JointState, "/ompo/joint_states", STATES)
    commands = probe.node.create_publisher(JointTrajectory, TRAJECTORY, COMMANDS)
    probe.spin_until(lambda: states and commands.get_subscription_count() == 1)
    target = ROBOT.home + np.linspace(-0.1, 0.1, 7)
    commands.publish(trajectory_to(target))
    broken = trajectory_to(ROBOT.home)
    broken.points[-1].positions[0] = math.nan
    probe.spin_until(lambda: np.abs(np.array(states[-1].position) - ROBOT.home).max() > 0.01)
    commands.publish(broken)  # refused as a whole, and the first one goes on
    probe.spin_until(
        lambda: np.abs(np.array(states[-1].position) - target).max() < 0.01, hint=lambda: states[-1].position
    )
