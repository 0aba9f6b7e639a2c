"""A driver in a process of its own, which takes commands until it is stopped."""

import multiprocessing
import os
import signal
from contextlib import closing, contextmanager

from probe import Probe
from rclpy.qos import QoSProfile
from waiting import PATIENCE

from ompo_ros.nodes.wire.robot_topics import command_type


def _listen(pipe, robot, topic):
    with closing(Probe()) as probe:
        probe.node.create_subscription(command_type(robot), topic, lambda message: None, QoSProfile(depth=1))
        probe.spin_until(pipe.poll)


@contextmanager
def driver(robot, topic):
    """Yields its process id."""
    spawned = multiprocessing.get_context("spawn")
    pipe, far_end = spawned.Pipe()
    process = spawned.Process(target=_listen, args=(far_end, robot, topic), daemon=True)
    process.start()
    try:
        yield process.pid
    finally:
        os.kill(process.pid, signal.SIGCONT)
        pipe.send("end")
        process.join(PATIENCE)
