"""The Panda's dynamics parameters: names, units, nominal values, physical bounds; and their values for N arms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.task.kinematics import FloatArray

Arms = NDArray[np.intp]  # indices of arms
_NOT_IN_PYBULLET: Final = ("joint_damping_scale", "friction_loss", "armature_scale")


@dataclass(frozen=True)
class Parameter:
    """One quantity that a domain may set, randomize or let drift."""

    name: str
    unit: str
    nominal: float
    low: float
    high: float
    meaning: str
    size: int = 1  # 7: one value a joint
    integer: bool = False


_TABLE: Final = (
    Parameter("payload_mass", "kg", 0.0, 0.0, 5.0, "carried at the fingertips, unknown to gravity compensation"),
    Parameter(
        "link_mass_scale", "1", 1.0, 0.2, 5.0, "mass and inertia of each link; compensation keeps the nominal", 7
    ),
    Parameter("joint_damping_scale", "1", 1.0, 0.0, 100.0, "viscous friction of each joint", 7),
    Parameter("friction_loss", "N m", 0.0, 0.0, 20.0, "Coulomb friction of each joint", 7),
    Parameter("armature_scale", "1", 1.0, 0.1, 50.0, "reflected rotor inertia of each joint", 7),
    Parameter("stiffness_scale", "1", 1.0, 0.02, 10.0, "position gain of each joint's controller", 7),
    Parameter("servo_damping_scale", "1", 1.0, 0.05, 10.0, "velocity gain of each joint's controller", 7),
    Parameter("action_gain", "1", 1.0, -5.0, 5.0, "multiplies each action", 7),
    Parameter("action_bias", "1", 0.0, -2.0, 2.0, "added to each action after the gain", 7),
    Parameter("action_noise", "1", 0.0, 0.0, 1.0, "half width of the uniform noise added to each action"),
    Parameter("command_delay", "control steps", 0.0, 0.0, 10.0, "until a position command takes effect", 1, True),
    Parameter("joint_position_noise", "rad", 0.0, 0.0, 0.5, "standard deviation of measured positions"),
    Parameter("joint_velocity_noise", "rad/s", 0.0, 0.0, 5.0, "standard deviation of measured velocities"),
    Parameter("gravity", "m/s^2", 9.81, 0.1, 50.0, "downwards; compensation keeps the nominal"),
    Parameter("contact_friction", "1", 0.5, 0.01, 5.0, "sliding friction of table, cube and fingers"),
    Parameter("cube_mass", "kg", 1.0, 0.01, 10.0, "of the cube, in push"),
    Parameter(
        "initial_posture_spread", "rad", 0.0, 0.0, 1.0, "half width of the uniform start around the home posture"
    ),
)
PARAMETERS: Final = {parameter.name: parameter for parameter in _TABLE}


def _columns() -> dict[str, slice]:
    columns, start = {}, 0
    for parameter in _TABLE:
        columns[parameter.name] = slice(start, start + parameter.size)
        start += parameter.size
    return columns


COLUMNS: Final = _columns()
COLUMN_COUNT: Final = sum(parameter.size for parameter in _TABLE)
COLUMN_NAMES: Final = tuple(
    parameter.name if parameter.size == 1 else f"{parameter.name}.{i}"
    for parameter in _TABLE
    for i in range(1, parameter.size + 1)
)
_NOMINAL: Final = np.concatenate([np.full(parameter.size, parameter.nominal) for parameter in _TABLE])


class DomainValues:
    """The values in force for each of N arms: one row an arm, one column per entry of `COLUMN_NAMES`."""

    def __init__(self, n: int) -> None:
        self.table: FloatArray = np.tile(_NOMINAL, (n, 1))

    def set_nominal(self, arms: Arms) -> None:
        self.table[arms] = _NOMINAL

    def __getitem__(self, name: str) -> FloatArray:
        return self.table[:, COLUMNS[name]]

    def of_arm(self, arm: int) -> dict[str, float | list[float]]:
        """Every value of one arm by name, fit for JSON."""
        row = self.table[arm]
        return {
            name: float(row[column.start]) if PARAMETERS[name].size == 1 else row[column].tolist()
            for name, column in COLUMNS.items()
        }


def require_expressible(names: Iterable[str]) -> None:
    """Refuse parameters that panda-gym's simulator does not have."""
    if refused := [name for name in names if name in _NOT_IN_PYBULLET]:
        raise ValueError(
            f"PyBullet cannot express {', '.join(refused)}: leave that out of the domain, or take a MuJoCo target"
        )
