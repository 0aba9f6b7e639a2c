"""What a monitor hears of the robot is in its scene, looked at from the server's side."""

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import Point, PointStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from waiting import wait_until

from ompo_ros.monitor.page import Page
from ompo_ros.nodes.wire.robot_topics import STATES
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("panda")
CUBE = (0.5, 0.1, 0.02)


def test_the_page_of_a_push_run_shows_the_cube_where_it_is(make, monkeypatch):
    monkeypatch.setattr(Page, "watched", True)  # as if a browser were there
    monitor = make("monitor", task="push", port=0)
    drawn = monitor._page._server.scene._handle_from_node_name["/cube"]
    assert not drawn.visible
    robot = rclpy.create_node("robot")
    states = robot.create_publisher(JointState, "joint_states", STATES)
    cubes = robot.create_publisher(PointStamped, "cube", STATES)
    executor = SingleThreadedExecutor()
    executor.add_node(monitor)

    def is_shown() -> bool:
        states.publish(JointState(name=list(ROBOT.joint_names), position=ROBOT.home.tolist(), velocity=[0.0] * 7))
        cubes.publish(PointStamped(point=Point(x=CUBE[0], y=CUBE[1], z=CUBE[2])))
        executor.spin_once(timeout_sec=0.05)
        return drawn.visible

    try:
        wait_until(is_shown, "the cube in the scene")
        assert np.array(drawn.position) == pytest.approx(CUBE)
    finally:
        executor.shutdown()
        robot.destroy_node()


def test_the_truth_that_a_page_shows_is_its_stand_ins(make):
    monitor = make("monitor", port=0, target_domain="creeping")
    assert monitor._run.truth["payload_mass"] == ("1.00",)
