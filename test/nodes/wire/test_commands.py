"""Commands over DDS to a driver that stands still: what it never got is never called arrived."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from driver_process import driver
from waiting import wait_until

from ompo_ros.control.safety import SafeCommand
from ompo_ros.nodes.wire.commands import Commands, Delivery
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("panda")
TOPIC = "commands"


def outcome(probe, commands):
    """Send one command and look as often as possible until its outcome is known.

    One that a busy machine kept this process from looking after in time does not count.
    """
    at_home = SafeCommand(0.0, ROBOT.home, np.zeros(7), (), frozenset(), np.inf)
    looked_late = True
    while looked_late:
        sent = commands.send(at_home, probe.node.get_clock().now(), np.inf)
        commands.delivery()
        looked_late = time.monotonic() - sent > ROBOT.period
    while (delivery := commands.delivery()) is Delivery.PENDING:
        pass
    return delivery


def test_a_command_that_expired_on_its_way_never_counts_as_arrived(probe):
    commands = Commands(probe.node, ROBOT, TOPIC)
    with driver(ROBOT, TOPIC) as pid:
        probe.spin_until(lambda: probe.node.count_subscribers(TOPIC) == 1)
        probe.spin_until(lambda: outcome(probe, commands) is Delivery.ARRIVED)
        os.kill(pid, signal.SIGSTOP)
        stopped = Path(f"/proc/{pid}/stat")
        wait_until(lambda: ") T " in stopped.read_text(), "the driver's stop")
        assert {outcome(probe, commands) for _ in range(20)} == {Delivery.LOST}
        os.kill(pid, signal.SIGCONT)
        probe.spin_until(lambda: outcome(probe, commands) is Delivery.ARRIVED)
