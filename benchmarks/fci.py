"""What the driver's 1 kHz loop keeps up with, against a simulated robot that speaks the maker's protocol.

Usage: benchmarks/fci.py [--seconds S]

cycles_per_s           cycles of the loop; the robot sets the pace, 1,000 if its server keeps up
late_cycles            share of cycles longer than 2 ms, whether the server or the loop was late
lost_packets           cycles of the robot that got no command
setpoint_to_motion_ms  median from sending a setpoint to an arm at rest until 0.1 mrad of motion is measured
cpu_share              of one core that the loop's process takes

All are measured twice, idle and with a learner that never pauses (names end in `_with_learner`): torch updates of two
networks of the learner's size, in one thread. The table comes first, then one line of JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from ompo_ros.fci import messages
from ompo_ros.fci.messages import Settings, State
from ompo_ros.fci.process import FciProcess
from ompo_ros.fci.simulated import SimulatedRobot
from ompo_ros.task.robot import load_robot

ADDRESS: Final = "127.0.0.57"
STEPS: Final = 20
_MOVED: Final = 1e-4  # rad
_LEARNER: Final = """
import torch
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(27, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                          torch.nn.Linear(256, 7))
optimizer = torch.optim.Adam(net.parameters())
print("ready", flush=True)
while True:
    optimizer.zero_grad()
    net(torch.randn(256, 27)).square().mean().backward()
    optimizer.step()
"""


class Measured:
    """The loop's process with its newest state."""

    def __init__(self, state_rate: float) -> None:
        self.robot = load_robot("fr3")
        self.fci = FciProcess(
            Settings(
                robot="fr3",
                robot_ip=ADDRESS,
                state_rate=state_rate,
                cutoff=0.0,
                joint_impedance=(3000.0,) * 7,
                collision_torque=(20.0,) * 7,
                collision_force=(20.0,) * 6,
                load_mass=0.0,
                load_centre=(0.0,) * 3,
                load_inertia=(0.0,) * 9,
            )
        )
        self.fci.connect(30.0)

    def states(self, seconds: float) -> Iterator[State]:
        """States as they come; a stopped robot or a dead loop has no figures."""
        for packet in self.fci.packets(time.monotonic() + seconds):
            if packet[:1] == messages.FAULT:
                raise RuntimeError(packet[1:].decode())
            if packet[:1] == messages.STATE:
                yield State.unpacked(packet)
        if self.fci.process.poll() is not None:
            raise RuntimeError("the loop's process has ended")

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.fci.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cycles(seconds: float) -> dict[str, float]:
    """Follow a smooth motion for a while."""
    measured = Measured(100.0)
    robot, started, sent = measured.robot, time.monotonic(), 0
    first = last = next(measured.states(5.0))
    cpu = measured.cpu_seconds()
    for state in measured.states(seconds):
        last = state
        if time.monotonic() - started >= sent * robot.period:
            measured.fci.send_setpoint(robot.home + 0.2 * np.sin(1.5 * sent * robot.period))
            sent += 1
    passed, used = time.monotonic() - started, measured.cpu_seconds() - cpu
    measured.fci.close()
    count = last.counts.cycles - first.counts.cycles
    return {
        "cycles_per_s": round(count / passed, 1),
        "late_cycles": round((last.counts.late - first.counts.late) / count, 4),
        "lost_packets": last.counts.lost - first.counts.lost,
        "cpu_share": round(used / passed, 3),
    }


def latency() -> float:
    """Send an arm at rest a step at a time; the median in ms."""
    measured = Measured(1000.0)
    delays = []
    for step in range(STEPS):
        goal = measured.robot.home + 0.02 * (step % 2)
        at_rest = 0
        for state in measured.states(10.0):  # wait for rest, with the loop still following
            at_rest = at_rest + 1 if np.abs(state.velocity).max() < 1e-3 else 0
            if at_rest > 100:
                break
        start, sent = state.position, time.monotonic()
        measured.fci.send_setpoint(goal)
        for state in measured.states(10.0):
            if np.abs(state.position - start).max() > _MOVED:
                delays.append(time.monotonic() - sent)
                break
    measured.fci.close()
    return round(statistics.median(delays[1:]) * 1e3, 1)


@contextlib.contextmanager
def learner() -> Iterator[None]:
    """A process that never pauses."""
    with subprocess.Popen([sys.executable, "-c", _LEARNER], stdout=subprocess.PIPE) as process:
        process.stdout.readline()  # type: ignore[union-attr] # it is a pipe
        try:
            yield
        finally:
            process.kill()


def all_figures(seconds: float) -> dict[str, float]:
    """Both measurements."""
    return {**cycles(seconds), "setpoint_to_motion_ms": latency()}


def main() -> None:
    """Measure idle and with a learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    server = SimulatedRobot(load_robot("fr3"), "nominal", host=ADDRESS)
    server.wait_until_ready()
    try:
        idle = all_figures(seconds)
        with learner():
            busy = all_figures(seconds)
    finally:
        server.close()
    sys.stdout.write(f"{'':24}{'idle':>12}{'with learner':>14}\n")
    for name in idle:
        sys.stdout.write(f"{name:24}{idle[name]:>12}{busy[name]:>14}\n")
    sys.stdout.write(json.dumps(idle | {f"{name}_with_learner": value for name, value in busy.items()}) + "\n")


if __name__ == "__main__":
    main()
