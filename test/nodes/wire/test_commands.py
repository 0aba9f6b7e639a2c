"""Commands over DDS to a driver that stands still: what it never got is never called arrived."""

import multiprocessing
import os
import signal
from contextlib import closing, contextmanager

import numpy as np
from probe import Probe
from rclpy.qos import QoSProfile
from waiting import PATIENCE

from ompo_ros.control.safety import SafeCommand
from ompo_ros.nodes.wire.commands import Commands, Delivery
from ompo_ros.nodes.wire.robot_topics import command_type
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("panda")
TOPIC = "commands"


def listen(pipe):
    """A driver in a process of its own."""
    with closing(Probe()) as probe:
        probe.node.create_subscription(command_type(ROBOT), TOPIC, lambda message: None, QoSProfile(depth=1))
        probe.spin_until(pipe.poll)


@contextmanager
def driver():
    spawned = multiprocessing.get_context("spawn")
    pipe, far_end = spawned.Pipe()
    process = spawned.Process(target=listen, args=(far_end,), daemon=True)
    process.start()
    try:
        yield process.pid
    finally:
        os.kill(process.pid, signal.SIGCONT)
        pipe.send("end")
        process.join(PATIENCE)


def outcome(probe, commands):
    """Send one command and look as often as possible until its outcome is known."""
    at_home = SafeCommand(0.0, ROBOT.home, np.zeros(7), (), frozenset(), np.inf)
    assert commands.send(at_home, probe.node.get_clock().now(), np.inf) is not None
    while (delivery := commands.delivery()) is Delivery.PENDING:
        pass
    return delivery


def test_a_command_that_expired_on_its_way_never_counts_as_arrived(probe):
    commands = Commands(probe.node, ROBOT, TOPIC)
    with driver() as pid:
        probe.spin_until(lambda: probe.node.count_subscribers(TOPIC) == 1)
        probe.spin_until(lambda: outcome(probe, commands) is Delivery.ARRIVED)
        os.kill(pid, signal.SIGSTOP)
        assert {outcome(probe, commands) for _ in range(20)} == {Delivery.LOST}
        os.kill(pid, signal.SIGCONT)
        probe.spin_until(lambda: outcome(probe, commands) is Delivery.ARRIVED)
