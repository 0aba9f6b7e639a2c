"""Mechanics of a stand-in that no source parameter expresses: play, dead zones, coupled joints and others."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from ompo_ros.sim.distributions import Numbers
from ompo_ros.sim.parameters import Arms
from ompo_ros.task.config_file import YamlValue
from ompo_ros.task.kinematics import SPHERE_NAMES, FloatArray, sphere_centres
from ompo_ros.task.tasks import INCREMENT

JOINTS: Final = 7
_MASSES: Final = {"elbow": 7.0, "wrist": 5.0, "hand": 2.0}  # kg; roughly where the arm's weight acts
_GRAVITY: Final = 9.81
_STIFFNESS: Final = 3000.0  # N m/rad of the arm's position control
_TILT: Final = 1e-4  # rad, for slopes


@dataclass(frozen=True)
class Beyond:
    """Each is one number for all joints or one per joint, in rad; zero has no effect."""

    dead_zone: Numbers = 0.0  # of a commanded increment that moves nothing
    saturation: Numbers = float("inf")  # the largest increment that a drive follows
    coupling: Numbers = 0.0  # share of the next joint's increment added to a joint's; the last takes the first's
    backlash: Numbers = 0.0  # of play to either side when a drive turns around
    sensor_offset: Numbers = 0.0  # added to what is measured
    base_tilt: tuple[float, float] = (0.0, 0.0)  # about x and y: gravity pulls sideways and is not compensated

    def __post_init__(self) -> None:
        for name in ("dead_zone", "saturation", "backlash"):
            if (np.asarray(getattr(self, name)) < 0).any():
                raise ValueError(f"{name} cannot be negative, got {getattr(self, name)}")


FIELDS: Final = tuple(each.name for each in fields(Beyond))


def read_beyond(entry: YamlValue) -> Beyond:
    """Read the section of a domain file."""
    chosen: dict[str, Any] = {}
    for name, value in entry.mapping(FIELDS).items():
        size = 2 if name == "base_tilt" else JOINTS
        chosen[name] = value.numbers(size) if value.is_list or name == "base_tilt" else value.number()
    try:
        return Beyond(**chosen)
    except ValueError as error:
        entry.refuse(str(error))


class Mechanics:
    """Applies these mechanics to the commands and measurements of N arms."""

    def __init__(self, beyond: Beyond, n: int) -> None:
        self._beyond = beyond
        self._output: FloatArray = np.zeros((n, JOINTS))  # output side of the play
        self._offset = np.asarray(beyond.sensor_offset, dtype=np.float64)
        self._mix = np.eye(JOINTS)
        self._mix[np.arange(JOINTS), (np.arange(JOINTS) + 1) % JOINTS] = beyond.coupling

    def reset(self, arms: Arms, posture: FloatArray) -> None:
        """Begin in `posture` (n, 7), in the middle of the play."""
        self._output[arms] = posture

    def actions(self, actions: FloatArray) -> FloatArray:
        """The actions (n, 7) that the drives execute."""
        increments = INCREMENT * actions @ self._mix.T
        felt = np.sign(increments) * np.maximum(np.abs(increments) - self._beyond.dead_zone, 0.0)
        most = np.asarray(self._beyond.saturation)
        return np.asarray(np.clip(felt, -most, most) / INCREMENT)

    def targets(self, targets: FloatArray) -> FloatArray:
        """The joint positions that commands (n, 7) lead to, after gravity and play."""
        pulled = targets + self._sag(targets)
        play = np.asarray(self._beyond.backlash)
        self._output = np.clip(self._output, pulled - play, pulled + play)
        return self._output

    def measured(self, q: FloatArray) -> FloatArray:
        return np.asarray(q + self._offset)

    def _sag(self, q: FloatArray) -> FloatArray:
        """Deflection (n, 7) of the joints by the uncompensated sideways part of gravity."""
        if not any(self._beyond.base_tilt):
            return np.zeros_like(q)
        about_x, about_y = self._beyond.base_tilt
        sideways = _GRAVITY * np.array([-np.sin(about_y), np.sin(about_x), 0.0])
        turned = q[:, None, :] + _TILT * np.vstack((np.zeros(JOINTS), np.eye(JOINTS)))
        work = _work(turned, sideways)
        return (work[:, 1:] - work[:, :1]) / _TILT / _STIFFNESS


def _work(q: FloatArray, force_per_mass: FloatArray) -> FloatArray:
    centres = sphere_centres(q)
    places = [SPHERE_NAMES.index(name) for name in _MASSES]
    masses = np.array(list(_MASSES.values()))
    return np.asarray((centres[..., places, :] @ force_per_mass) @ masses)
