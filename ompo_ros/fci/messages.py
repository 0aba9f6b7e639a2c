"""What the node and the loop's process send each other: small packets on a socket, so that neither ever waits."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Final

import numpy as np

from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS

SETPOINT: Final = b"p"
RECOVER: Final = b"r"  # with a number
STATE: Final = b"s"
EVENT: Final = b"e"  # a line for the log
FAULT: Final = b"f"  # why the arm is stopped
RECOVERED: Final = b"o"  # the answer to RECOVER: its number, and what is wrong or nothing
CONNECTED: Final = b"c"
LARGEST: Final = 4096  # bytes of a packet

_KEPT: Final = 3 * JOINTS


class Phase(Enum):
    """What the loop does."""

    CONNECTING = "connecting to the robot"
    WAITING = "no command: the robot holds by itself"
    FOLLOWING = "following commands"
    STOPPED = "stopped until ~/recover"
    RECOVERED = "recovered: waiting for the commands to pause and begin again"


_PHASES: Final = tuple(Phase)


def answer_to(request: bytes, problem: str) -> bytes:
    """The RECOVERED packet that answers a RECOVER packet."""
    return b"%b%b %b" % (RECOVERED, request[1:], problem.encode())


def read_answer(packet: bytes) -> tuple[int, str]:
    """The number and the text of a RECOVERED packet."""
    number, _, problem = packet[1:].partition(b" ")
    return int(number), problem.decode()


@dataclass(frozen=True)
class Counts:
    """How the cycles went, since the process began; `worst` since the last state."""

    cycles: int = 0
    lost: int = 0  # cycles of the robot that got no command
    late: int = 0  # cycles of more than two milliseconds
    worst: float = 0.0  # s between two cycles
    success_rate: float = 0.0  # of the last 100 commands, as the robot counts them
    setpoints: int = 0
    refused: int = 0  # setpoints that were not followed


@dataclass(frozen=True)
class State:
    """Measured positions, velocities and torques (7,)."""

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    phase: Phase
    counts: Counts

    def packed(self) -> bytes:
        counts = list(asdict(self.counts).values())
        values = [*self.position, *self.velocity, *self.effort, _PHASES.index(self.phase), *counts]
        return STATE + np.array(values, dtype=np.float64).tobytes()

    @classmethod
    def unpacked(cls, packet: bytes) -> State:
        values = np.frombuffer(packet[1:])
        position, velocity, effort = values[:_KEPT].reshape(3, JOINTS).copy()
        phase, cycles, lost, late, worst, success, setpoints, refused = values[_KEPT:].tolist()
        counts = Counts(int(cycles), int(lost), int(late), worst, success, int(setpoints), int(refused))
        return cls(position, velocity, effort, _PHASES[int(phase)], counts)


@dataclass(frozen=True)
class Settings:
    """All that the loop needs to know."""

    robot: str  # name or path of the preset
    robot_ip: str
    state_rate: float
    cutoff: float  # Hz of the low-pass filter of velocities and efforts; 0: none
    joint_impedance: tuple[float, ...]
    collision_torque: tuple[float, ...]
    collision_force: tuple[float, ...]
    load_mass: float  # kg; 0: as set in Desk
    load_centre: tuple[float, ...]
    load_inertia: tuple[float, ...]

    @classmethod
    def of_text(cls, text: str) -> Settings:
        return cls(**json.loads(text))

    def as_text(self) -> str:
        return json.dumps(asdict(self))
