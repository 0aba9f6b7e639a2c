"""Commands of a moving arm over DDS: none is sent on top of others that nobody has taken."""

import os
import signal
import time

import numpy as np
import pytest
from driver_process import driver
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data

from ompo_ros.control.motion import Motion
from ompo_ros.control.safety import ArmState
from ompo_ros.nodes.wire.dispatch import Dispatch
from ompo_ros.nodes.wire.loop_clock import LoopClock
from ompo_ros.nodes.wire.robot_topics import command_type
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

ROBOT = load_robot("panda")
TOPIC = "commands"
STEP = np.full(7, 0.002)  # rad a period


class Sender:
    """An arm that always reports where it is, whatever becomes of its commands."""

    def __init__(self, probe, *, lockstep: bool = False) -> None:
        self.motion, self.clock = Motion(ROBOT, Task("reach", "dense"), 1.0, "ompo enable"), LoopClock(probe.node)
        self.desertions = 0
        self.dispatch = Dispatch(
            probe.node, self.motion, self.clock, TOPIC, lockstep=lockstep, dry=False, on_desertion=self._count
        )

    def _count(self) -> None:
        self.desertions += 1

    def tick(self, periods: int = 1) -> str:
        time.sleep(periods * ROBOT.period)
        now = self.clock.now()
        state = ArmState(ROBOT.home, np.zeros(7), now)
        problem = self.dispatch.problem(silence=0.0)
        if not problem and not self.motion.doubt(state, None, now):
            self.motion.begin(state)
            command, _ = self.motion.propose(state, self.motion.filter.commanded(state) + STEP, now)
            if command is not None:
                self.dispatch.send(command, now)
        return problem

    @property
    def ahead(self) -> float:
        """How far the setpoint has gone."""
        state = ArmState(ROBOT.home, np.zeros(7), self.clock.now())
        return float(np.abs(self.motion.filter.commanded(state) - ROBOT.home).max())


@pytest.fixture
def sender(probe):
    return Sender(probe)


def test_commands_that_nobody_takes_end_the_motion_although_joint_states_come(probe, sender):
    with driver(ROBOT, TOPIC) as pid:
        probe.spin_until(lambda: probe.node.count_subscribers(TOPIC) == 1)
        probe.spin_until(lambda: sender.tick() == "" and sender.ahead > 4 * STEP[0])
        os.kill(pid, signal.SIGSTOP)
        probe.spin_until(lambda: "acknowledge commands" in sender.tick())
        assert not sender.motion.moving
        assert sender.desertions == 0
        os.kill(pid, signal.SIGCONT)
        probe.spin_until(lambda: sender.tick() == "" and sender.motion.moving)


def test_in_lockstep_the_next_state_is_the_answer_however_slow_the_acknowledgement(probe):
    sender = Sender(probe, lockstep=True)
    with driver(ROBOT, TOPIC) as pid:
        probe.spin_until(lambda: probe.node.count_subscribers(TOPIC) == 1)
        probe.spin_until(lambda: sender.tick() == "")
        os.kill(pid, signal.SIGSTOP)
        for _ in range(10):
            assert sender.dispatch.problem(silence=0.0) == ""
            assert sender.tick(periods=3) == ""  # a command's life is two


def test_onlookers_are_no_driver(probe, sender):
    recorder = Node("recorder", context=probe.node.context)
    recorder.create_subscription(command_type(ROBOT), TOPIC, lambda _: None, qos_profile_sensor_data)
    probe.spin_until(lambda: probe.node.count_subscribers(TOPIC) == 1)

    def looked():
        sender.dispatch.look()
        return "nobody listens" in sender.tick()

    probe.spin_until(looked)
    assert not sender.motion.moving
    assert sender.desertions == 0
    with driver(ROBOT, TOPIC):
        probe.spin_until(lambda: sender.tick() == "" and sender.motion.moving)
    recorder.destroy_node()


def test_before_a_driver_listens_there_are_no_commands_and_the_first_one_is_where_the_arm_is(probe, sender):
    probe.spin_until(lambda: f"nobody listens to {TOPIC}" in sender.tick())
    assert sender.dispatch.problem(silence=1.0) == ""  # it is the robot that is missing
    assert not sender.motion.moving
    assert sender.ahead == 0.0
    with driver(ROBOT, TOPIC):
        probe.spin_until(lambda: sender.tick() == "")
        assert sender.ahead < STEP[0]
        probe.spin_until(lambda: sender.tick() == "" and sender.ahead > 4 * STEP[0])
    assert sender.desertions == 0
    probe.spin_until(lambda: "nobody listens" in sender.tick())
    assert not sender.motion.moving
    assert "nobody listens" in sender.tick()
    assert sender.desertions == 1, "an arm that stands is not left again"


def test_a_subscriber_that_cannot_be_connected_is_no_driver(probe, sender):
    unfit = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    probe.node.create_subscription(command_type(ROBOT), TOPIC, lambda _: None, unfit)
    probe.spin_until(lambda: probe.node.count_subscribers(TOPIC) == 1)
    sender.dispatch.look()
    assert "nobody listens" in sender.tick()
