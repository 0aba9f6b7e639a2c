"""A robot's rules in simulated time: the limits and the count of cycles are the simulated robot's own code."""

import dataclasses
import sys

import numpy as np
from fci_robot import ROBOT, require_simulator

from ompo_ros.fci import environment


class Reflex(Exception):
    """The robot has stopped itself."""


@dataclasses.dataclass
class Commanded:
    """What the robot reports of the motion that it commands itself by."""

    q_d: list[float]
    dq_d: list[float]
    ddq_d: list[float]


class Rules:
    """Drops what comes after its cycle, and continues by itself instead, as the maker documents it."""

    def __init__(self) -> None:
        require_simulator()
        folder = str(environment.simulator_folder())
        if folder not in sys.path:
            sys.path.append(folder)  # the last one: numpy stays ours
        from franka_sim.comm_constraints import CommConstraintTracker
        from franka_sim.control_modes import ControlMode
        from franka_sim.limits.checker import MotionLimitChecker

        self._limits, self._cycles, self.number = MotionLimitChecker(enforce=True), CommConstraintTracker(), 1
        self._position, still = ROBOT.home.tolist(), [0.0] * 7
        self._rates = (still, still)
        start = {"q_d": self._position, "dq_d": still, "ddq_d": still}
        self._limits.start_motion(ControlMode.POSITION, start, 1)
        self._cycles.start_motion(1)

    def state(self) -> Commanded:
        """End the cycle and begin the next one; states have single precision."""
        self.number += 1
        cycle = self._cycles.tick(self.number)
        self._limits.note_published(self.number)
        if cycle.lost and (own := self._limits.extrapolate(cycle.closed_id)) is not None:
            command, violation = own
            self._apply(command["q_c"], violation)
        single = (np.float32(values).astype(float).tolist() for values in (self._position, *self._rates))
        return Commanded(*single)

    def command(self, number: int, position: list[float]) -> None:
        """Take the answer to the state of that number."""
        if self._cycles.command_received(number):
            command = {"message_id": number, "q_c": position}
            taken = self._limits.absorb_command(command, self._position, fresh=True, enforce=True)
            self._apply(position, taken.violation)

    def _apply(self, position: list[float], violation: object) -> None:
        if violation is not None:
            raise Reflex(violation.describe())
        self._position, self._rates = list(position), self._limits.applied_derivatives()
