"""The stand-in robot: a simulated arm with hidden parameters that takes position commands as a real driver does.

A real arm has no episodes. The stand-in begins a new one whenever the arm comes to rest at home after a motion. It then
draws or drifts the domain's parameters, and in push moves the cube, as a person in the lab would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.plant import Plant
from ompo_ros.sim.world import PandaWorld
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, Robot
from ompo_ros.task.tasks import INCREMENT, Task

SIMULATORS: Final = ("panda_gym", "mujoco")
_AWAY: Final = 0.1  # rad from where the last episode began
_HOME: Final = 0.06  # rad from home
_ROUGHLY_HOME: Final = 0.15  # rad at which an arm that sags or creeps stays
_STAYS: Final = 0.5  # s
_REST: Final = 0.1  # rad/s on average over a step, as the collector judges it: a commanded arm always vibrates
_SPEEDING: Final = 1.5  # largest lead of a command, in periods at the velocity limit


@dataclass(frozen=True)
class Measurement:
    """Measured joint positions and velocities (7,), and the position of the cube (3,)."""

    position: FloatArray
    velocity: FloatArray
    cube: FloatArray


class StandIn:
    """One arm in a simulator; time passes only through `advance`."""

    def __init__(
        self, robot: Robot, task: Task, domain: Domain, plant: Plant, seed: int, command_timeout: float
    ) -> None:
        self._home = robot.home
        self._farthest = robot.max_lead / INCREMENT
        self._reach = _SPEEDING * robot.velocity * robot.period
        self._command_timeout = command_timeout
        self._world = PandaWorld(task, domain, plant)
        self._arm = np.array([0])
        self._world.seed([np.random.default_rng(seed)])
        self._world.reset(self._arm)
        self._away = False
        self._begun_at = self._stood_at = plant.q[0].copy()
        self._rested = 0.0  # s
        self._held: FloatArray | None = plant.q.copy()
        self._since_command = 0.0
        self.timestep = plant.timestep
        self.time = 0.0  # s simulated
        self.measured = self._measure()

    @property
    def episode(self) -> int:
        return int(self._world.episode[0])

    @property
    def is_holding(self) -> bool:
        """Whether the arm holds its position because no command arrived in time."""
        return self._held is not None

    def command(self, position: FloatArray) -> None:
        """Send the arm to joint positions (7,); the hidden disturbances act relative to the last measurement.

        The command's lead is limited, as a driver's limits do: an arm that presses on something and comes free would
        otherwise jump farther than a collector accepts.
        """
        if position.shape != (JOINTS,) or not np.isfinite(position).all():
            raise ValueError(f"a command needs {JOINTS} finite positions, got {position.tolist()}")
        increment = (position - self.measured.position) / INCREMENT
        self._world.command(np.clip(increment, -self._farthest, self._farthest)[None].astype(np.float32))
        self._world.limit_lead(self._reach)
        self._held = None
        self._since_command = 0.0

    def advance(self, seconds: float) -> Measurement:
        """Simulate for a while and measure."""
        substeps = round(seconds / self.timestep)
        self.time += substeps * self.timestep
        self._since_command += substeps * self.timestep
        if self._held is None and self._since_command > self._command_timeout:
            self._held = self._world.plant.q.copy()
        if self._held is None:
            self._world.advance(substeps)
        else:
            self._world.plant.advance(self._held, substeps)
        self._begin_episode_at_home(seconds)
        self.measured = self._measure()
        return self.measured

    def close(self) -> None:
        self._world.plant.close()

    def _begin_episode_at_home(self, seconds: float) -> None:
        plant = self._world.plant
        self._away = self._away or bool(np.abs(plant.q[0] - self._begun_at).max() > _AWAY)
        at_rest = np.abs(plant.q[0] - self._stood_at).max() < _REST * seconds
        self._rested, self._stood_at = self._rested + seconds if at_rest else 0.0, plant.q[0].copy()
        distance = np.abs(plant.q[0] - self._home).max()
        at_home = distance < _HOME if self._rested < _STAYS else distance < _ROUGHLY_HOME
        if self._away and at_home and self._rested > 0.0:
            self._away, self._begun_at = False, plant.q[0].copy()
            self._world.reset(self._arm, plant.q.copy())

    def _measure(self) -> Measurement:
        obs = self._world.observe(self._arm)[0].astype(np.float64)
        return Measurement(obs[:JOINTS], obs[JOINTS : 2 * JOINTS], self._world.plant.cube[0].copy())


def make_stand_in(
    simulator: str, domain: Domain | str, task: Task, robot: Robot, *, seed: int, command_timeout: float
) -> StandIn:
    """Build the named simulator with a domain or its file; ValueError if the two do not match."""
    loaded = load_domain(domain) if isinstance(domain, str) else domain
    plant: Plant
    if simulator == "panda_gym":
        try:
            from ompo_ros.sim.panda_gym import PandaGymArm
        except ImportError as error:
            raise ValueError(str(error)) from error
        plant = PandaGymArm(task)
    else:
        from ompo_ros.sim.mujoco_arms import MujocoArms

        plant = MujocoArms(task, 1, loaded.simulator)
    return StandIn(robot, task, loaded, plant, seed, command_timeout)
