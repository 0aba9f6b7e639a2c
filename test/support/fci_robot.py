"""A simulated FR3 and the driver's loop, without ROS; the robot's own time paces what is sent to it."""

import os
import threading

import numpy as np
import pytest
from waiting import PATIENCE, wait_until

from ompo_ros.fci import environment, messages
from ompo_ros.fci.messages import Phase, Settings, State
from ompo_ros.fci.process import FciProcess
from ompo_ros.fci.simulated import SimulatedRobot
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("fr3")
_PID = os.getpid()
_OURS = f"127.{1 + (_PID >> 16) % 250}.{(_PID >> 8) % 256}"
ADDRESS = f"{_OURS}.{_PID % 125 * 2 + 1}"  # no other test's
ANOTHER = f"{_OURS}.{_PID % 125 * 2 + 2}"
STATES_PER_PERIOD = 4


def require_simulator() -> None:
    """Skip where neither the maker's binding nor the server can be had."""
    pytest.importorskip("pylibfranka", reason="the maker's binding has no wheel for this Python")
    try:
        environment.simulator_folder()
    except environment.NoSimulator as error:
        pytest.skip(str(error))


def simulated(**given) -> SimulatedRobot:
    """A simulated robot that can be connected to."""
    require_simulator()
    robot = SimulatedRobot(ROBOT, **{"domain": "nominal", "host": ADDRESS, **given})
    robot.wait_until_ready()
    return robot


def settings(address: str) -> Settings:
    return Settings(
        robot="fr3",
        robot_ip=address,
        state_rate=STATES_PER_PERIOD / ROBOT.period,
        cutoff=0.0,
        joint_impedance=(3000.0,) * 7,
        collision_torque=(20.0,) * 7,
        collision_force=(20.0,) * 6,
        load_mass=0.5,
        load_centre=(0.0, 0.0, 0.05),
        load_inertia=(1e-3, 0.0, 0.0, 0.0, 1e-3, 0.0, 0.0, 0.0, 1e-3),
    )


class Driven:
    """The driver's process, and all it has reported."""

    def __init__(self, address: str = ADDRESS) -> None:
        self.fci = FciProcess(settings(address))
        self.faults, self.answers = [], []
        self._count, self._newest, self._recoveries = 0, None, 0
        self._came = threading.Condition()
        self.fci.connect(PATIENCE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for packet in self.fci.packets():
            with self._came:
                if packet[:1] == messages.STATE:
                    self._newest = State.unpacked(packet)
                    self._count += 1
                elif packet[:1] == messages.FAULT:
                    self.faults.append(packet[1:].decode())
                elif packet[:1] == messages.RECOVERED:
                    self.answers.append(messages.read_answer(packet))
                self._came.notify_all()

    def states(self, count: int = 1) -> State:
        """Wait for newer states: a hundred are a second of the robot."""
        with self._came:
            goal = self._count + count
            assert self._came.wait_for(lambda: self._count >= goal, PATIENCE), f"no states; faults: {self.faults}"
            return self._newest

    def until(self, condition, what: str) -> None:
        with self._came:
            assert self._came.wait_for(condition, PATIENCE), f"{what}: not within {PATIENCE:g} s; faults: {self.faults}"

    def until_phase(self, phase: Phase) -> State:
        self.until(lambda: self._newest is not None and self._newest.phase is phase, phase.value)
        return self._newest

    def until_over(self) -> State:
        """Wait until the motion has ended, at rest or by a fault."""
        self.until(lambda: self.faults or self._newest.phase is Phase.WAITING, "the motion's end")
        return self.states(20)

    def send(self, setpoints, gaps=None) -> None:
        """Send setpoints, as many states apart as `gaps` says."""
        for index, setpoint in enumerate(setpoints):
            self.fci.send_setpoint(np.asarray(setpoint))
            self.states(STATES_PER_PERIOD if gaps is None else int(gaps[index]))

    def fault(self) -> str:
        self.until(lambda: self.faults, "a fault")
        return self.faults[-1]

    def recover(self) -> str:
        number = self.ask_recovery()
        self.until(lambda: self.answers and self.answers[-1][0] == number, "an answer to the recovery")
        return self.answers[-1][1]

    def ask_recovery(self) -> int:
        self._recoveries += 1
        self.fci.ask_recovery(self._recoveries)
        return self._recoveries

    def close(self) -> int:
        self.fci.close(PATIENCE)
        self._reader.join()
        wait_until(lambda: self.fci.process.poll() is not None, "the loop's end")
        return self.fci.process.returncode


def wave(seconds: float, size: float = 0.2):
    """Setpoints of a smooth motion that begins and ends at home at rest."""
    times = np.arange(0.0, seconds + 1e-9, ROBOT.period)
    return ROBOT.home + np.outer(size * np.sin(np.pi * times / seconds) ** 2, [1, -1, 1, 1, -1, 1, 1])
