"""The target collector at a real robot's pace: it keeps its rate, survives a stall and brakes before it ends."""

import os
import signal
import time

import launch_pytest
import numpy as np
import pytest
from collector_peer import Ears
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory
from waiting import PATIENCE

from ompo_ros.experiments.campaign.checks import reconstruct
from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import read_limits
from ompo_ros.experiments.campaign.recording import Recording
from ompo_ros.nodes.wire.robot_topics import STATES
from ompo_ros.task.robot import load_robot

LIVE = load_robot("panda", "franka_ros2")
TOPIC = f"/ompo/{LIVE.driver.command_topic}"


@launch_pytest.fixture
def dry_graph(ros_domain):
    robot = node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=2.0)
    return graph_of(robot, node("target_collector", enabled=True, use_sim_time=True, dry_run=True))


@launch_pytest.fixture
def timed_graph(ros_domain):
    robot = node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=0.5)
    return graph_of(robot, node("target_collector", enabled=True, use_sim_time=True))


@pytest.fixture
def robot():
    return node("robot_sim", simulator="mujoco", domain="nominal", driver="franka_ros2")


@pytest.fixture
def live_collector():
    return node("target_collector", enabled=True, driver="franka_ros2")


@launch_pytest.fixture
def live_graph(ros_domain, robot, live_collector):
    return graph_of(robot, live_collector)


@pytest.fixture
def ears(probe):
    return Ears(probe)


@pytest.mark.launch(fixture=dry_graph)
def test_a_dry_run_does_everything_but_command_and_teach(ears):
    ears.until(lambda: len(ears.episodes) >= 1)
    assert not ears.commands
    assert not ears.batches


@pytest.mark.launch(fixture=timed_graph)
def test_in_its_own_time_the_loop_keeps_its_rate_and_reports_it(ears):
    def figures():
        return {entry.key: entry.value for entry in ears.reports[-1].status[0].values} if ears.reports else {}

    ears.until(lambda: ears.batches and int(figures().get("ticks", 0)) > 50)
    ears.until(lambda: any(key.startswith("filtered: ") for key in figures()))
    assert float(figures()["target_rate"]) == 25.0
    ears.until(lambda: 20.0 < float(figures()["actual_rate"]) < 26.0)
    assert int(figures()["filter_calls"]) > 0
    assert ears.reports[-1].status[0].hardware_id == "panda"


class Trajectories:
    """The trajectories a real-time collector sends, as the fault campaign's judge wants them."""

    def __init__(self, ears):
        self._ears, self._heard, self._last_came = ears, [], False
        self._offset = time.monotonic_ns() - time.time_ns()
        ears.probe.node.create_subscription(JointTrajectory, TOPIC, self._hear, QoSProfile(depth=100))

    def wait_for_the_last(self):
        """Send an empty one after all others, and wait for it."""
        own = self._ears.probe.node.create_publisher(JointTrajectory, TOPIC, QoSProfile(depth=100))
        self._ears.until(lambda: own.publish(JointTrajectory()) or self._last_came)

    def _hear(self, msg, info):
        if not msg.points:
            self._last_came = True
            return
        # In whole nanoseconds: a float of the epoch would shake the jerk.
        stamp = (msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec + self._offset) * 1e-9
        points = tuple(
            Point(
                point.time_from_start.sec + point.time_from_start.nanosec * 1e-9,
                *(np.array(values) for values in (point.positions, point.velocities, point.accelerations)),
            )
            for point in msg.points
        )
        self._heard.append(Command(stamp + 0.005, points, stamp, info["publication_sequence_number"]))

    def __len__(self):
        return len(self._heard)

    def moves(self):
        return bool(self._heard) and any(np.abs(point.velocity).max() > 0.3 for point in self._heard[-1].points)

    def motions(self):
        """The driver's motions, each with the limits it exceeds, in pieces of which no command was missed."""
        first, limits = self._heard[0], read_limits("panda", "franka_ros2")
        began = (first.received - 10.0, first.received) if first.number == 1 else ()
        recording = Recording(self._heard, [(time, first.points[0].position) for time in began])
        pieces = recording.motions_between(-np.inf, np.inf)
        return [reconstruct(piece, start, limits, piece[-1].received + 1.0) for piece, start in pieces]


def stamp(state):
    return state.header.stamp.sec + state.header.stamp.nanosec * 1e-9


@pytest.mark.launch(fixture=live_graph)
def test_a_collector_that_was_stopped_does_not_pull_the_arm_back(ears, live_collector):
    sent = Trajectories(ears)
    states = ears.probe.listen(JointState, f"/ompo/{LIVE.driver.state_topic}", STATES)
    for stall in (0.15, 0.3, 0.6):
        ears.until(sent.moves)
        os.kill(live_collector.process_details["pid"], signal.SIGSTOP)
        ears.probe.wait_for_more(states)
        begun = stamp(states[-1])
        ears.until(lambda begun=begun, stall=stall: stamp(states[-1]) > begun + stall)
        os.kill(live_collector.process_details["pid"], signal.SIGCONT)
        ears.probe.wait_for_more(sent, 11)
    assert [violations for _, violations in sent.motions() if violations] == []


@pytest.mark.launch(fixture=live_graph)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_it_brakes_the_arm_first(ears, robot, live_collector, launch_context, number):
    sent = Trajectories(ears)
    ears.until(sent.moves)
    os.kill(live_collector.process_details["pid"], number)
    assert process_tools.wait_for_exit_sync(launch_context, live_collector, timeout=PATIENCE)
    ended = time.monotonic()
    sent.wait_for_the_last()
    motions = sent.motions()
    assert [violations for _, violations in motions if violations] == []
    speeds = [motion.speed_at(ended + 0.1) for motion, _ in motions]
    assert max(speeds, default=0.0) < 1e-3  # a driver left alone would still be on its way
    yield
    assert (robot.return_code, live_collector.return_code) == (0, 0)
