"""Between a policy and the joints: gain, bias, noise and delay on the way out, sensor noise on the way back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ompo_ros.sim.beyond import Beyond, Mechanics
from ompo_ros.sim.limits import CommandLimits
from ompo_ros.sim.parameters import PARAMETERS, Arms, DomainValues
from ompo_ros.task.kinematics import JOINT_HIGH, JOINT_LOW, FloatArray
from ompo_ros.task.tasks import INCREMENT

_BLOCK: Final = 64  # random rows drawn at once for an arm, instead of three calls per step
_DELAY_SLOTS: Final = int(PARAMETERS["command_delay"].high) + 1
_OWN: Final = frozenset(
    (
        "action_gain",
        "action_bias",
        "action_noise",
        "command_delay",
        "joint_position_noise",
        "joint_velocity_noise",
        "initial_posture_spread",
    )
)


def acts_on_plant(name: str) -> bool:
    """Whether a parameter changes the simulated arm itself, rather than the signals to and from it."""
    return name not in _OWN


class SignalPath:
    """Turns actions into delayed position commands, and joint states into measurements, for N arms."""

    def __init__(
        self, n: int, values: DomainValues, beyond: Beyond | None = None, limits: CommandLimits | None = None
    ) -> None:
        self._mechanics = None if beyond is None else Mechanics(beyond, n)
        self._limits = limits
        self._values = values
        self._rows = np.arange(n)
        self._generators: list[np.random.Generator] = [np.random.default_rng() for _ in range(n)]
        self._action_noise = np.zeros((n, _BLOCK, 7))  # uniform in [-1, 1)
        self._sensor_noise = np.zeros((n, _BLOCK, 14))  # standard normal
        self._command_tick = np.zeros(n, dtype=np.intp)
        self._sensor_tick = np.zeros(n, dtype=np.intp)
        self._pending = np.zeros((n, _DELAY_SLOTS, 7))
        self._slot = 0

    def reset(self, arms: Arms, posture: FloatArray, generators: list[np.random.Generator]) -> None:
        """Begin an episode: delayed commands start at the posture, noise comes from `generators`."""
        self._pending[arms] = posture[:, None, :]
        if self._mechanics is not None:
            self._mechanics.reset(arms, posture)
        if self._limits is not None:
            self._limits.reset(arms)
        self._command_tick[arms] = 0
        self._sensor_tick[arms] = 0
        for arm, generator in zip(arms, generators, strict=True):
            self._generators[arm] = generator
            self._draw_action_noise(arm)
            self._draw_sensor_noise(arm)

    def command(self, actions: FloatArray, measured: FloatArray) -> FloatArray:
        """Send `actions` from positions `measured`; return the position commands (n, 7) that reach the joints now."""
        for arm in np.flatnonzero(self._command_tick == _BLOCK):
            self._draw_action_noise(arm)
        noise = self._action_noise[self._rows, self._command_tick]
        self._command_tick += 1
        values = self._values
        if self._limits is not None:
            actions = self._limits.actions(actions, measured)
        if self._mechanics is not None:
            actions = self._mechanics.actions(actions)
        disturbed = actions * values["action_gain"] + values["action_bias"] + values["action_noise"] * noise
        self._slot = (self._slot + 1) % _DELAY_SLOTS
        targets = measured + INCREMENT * disturbed
        if self._mechanics is not None:
            targets = self._mechanics.targets(targets)
        self._pending[:, self._slot] = np.clip(targets, JOINT_LOW, JOINT_HIGH)
        delay = values["command_delay"][:, 0].astype(np.intp)
        due: FloatArray = self._pending[self._rows, (self._slot - delay) % _DELAY_SLOTS]
        return due

    def measure(self, q: FloatArray, dq: FloatArray, arms: Arms) -> tuple[FloatArray, FloatArray]:
        """Simulate the sensors of `arms` for true positions and velocities (n, 7)."""
        for arm in arms[self._sensor_tick[arms] == _BLOCK]:
            self._draw_sensor_noise(arm)
        noise = self._sensor_noise[arms, self._sensor_tick[arms]]
        self._sensor_tick[arms] += 1
        values = self._values
        if self._mechanics is not None:
            q = self._mechanics.measured(q)
        return (
            q + values["joint_position_noise"][arms] * noise[:, :7],
            dq + values["joint_velocity_noise"][arms] * noise[:, 7:],
        )

    def _draw_action_noise(self, arm: np.integer[Any]) -> None:
        self._action_noise[arm] = self._generators[arm].random((_BLOCK, 7)) * 2.0 - 1.0
        self._command_tick[arm] = 0

    def _draw_sensor_noise(self, arm: np.integer[Any]) -> None:
        self._sensor_noise[arm] = self._generators[arm].standard_normal((_BLOCK, 14))
        self._sensor_tick[arm] = 0
