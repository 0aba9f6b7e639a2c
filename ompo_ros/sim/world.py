"""N Panda worlds behind the contract: plant, task and domain produce observations and rewards; one seed per arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ompo_ros.sim.domain import Domain
from ompo_ros.sim.limits import CommandLimits
from ompo_ros.sim.parameters import COLUMN_COUNT, PARAMETERS, Arms, DomainValues
from ompo_ros.sim.plant import Plant
from ompo_ros.sim.signal_path import SignalPath, acts_on_plant
from ompo_ros.task.kinematics import HOME, JOINT_HIGH, JOINT_LOW, FloatArray, end_effector_position
from ompo_ros.task.tasks import CONTROL_RATE, Float32Array, Task

# The uniform numbers an episode begins with: domain values, drift noise, goal, cube, posture.
_DRAW_ENDS: Final = np.cumsum([COLUMN_COUNT, len(PARAMETERS), 3, 3]).tolist()
_DRAWS: Final = _DRAW_ENDS[-1] + 7


@dataclass(frozen=True)
class Step:
    """The result of one control step of all arms; episodes end only by their time limit."""

    obs: Float32Array
    reward: Float32Array
    truncated: NDArray[np.bool_]
    is_success: NDArray[np.bool_]


class PandaWorld:
    """The common part of a single environment, a batch and a stand-in robot."""

    def __init__(self, task: Task, domain: Domain, plant: Plant, limits: CommandLimits | None = None) -> None:
        plant.check(domain.changed)
        self.task = task
        self.domain = domain
        self.plant = plant
        self.n = len(plant.q)
        self.values = DomainValues(self.n)
        self.goal: FloatArray = np.zeros((self.n, 3))
        self.episode = np.full(self.n, -1, dtype=np.int64)
        self.step_index = np.zeros(self.n, dtype=np.int64)
        self.generators = [np.random.default_rng() for _ in range(self.n)]
        self._everyone = np.arange(self.n)
        self._path = SignalPath(self.n, self.values, domain.beyond, limits)
        self._measured_q: FloatArray = np.zeros((self.n, 7))
        self._targets: FloatArray = np.tile(HOME, (self.n, 1))
        self._substeps = round(1.0 / CONTROL_RATE / plant.timestep)
        self._drift_noise = {name: np.zeros(self.n) for name in domain.drift}
        self._touches_plant = _touches_plant(domain)
        self._moving = [name for name, schedule in domain.drift.items() if schedule.moves_within_episode]

    def set_domain(self, domain: Domain) -> None:
        """Draw from another domain, starting with each arm's next episode; the simulator stays the same."""
        if domain.drift or self.domain.drift:
            raise ValueError("a drifting domain can neither replace another domain nor be replaced")
        if domain.beyond != self.domain.beyond or domain.simulator != self.domain.simulator:
            raise ValueError(f"{domain.name!r} and {self.domain.name!r} differ in mechanics or simulator")
        self.plant.check(domain.changed)
        self._touches_plant |= _touches_plant(domain)
        self.domain = domain

    def seed(self, generators: list[np.random.Generator]) -> None:
        """Give each arm its generator and restart its count of episodes."""
        self.generators = generators
        self.episode[:] = -1

    def reset(self, arms: Arms, posture: FloatArray | None = None) -> Float32Array:
        """Begin an episode for `arms`: a new domain, goal and posture; returns their first observations.

        With `posture` (n, 7) the arms begin at rest there instead: a real robot cannot be teleported.
        """
        self.episode[arms] += 1
        self.step_index[arms] = 0
        generators = [self.generators[arm] for arm in arms]
        uniform = np.stack([generator.random(_DRAWS) for generator in generators])
        normal = np.stack([generator.standard_normal(COLUMN_COUNT) for generator in generators])
        values_draw, drift_draw, goal_draw, cube_draw, posture_draw = np.split(uniform, _DRAW_ENDS, axis=1)
        self.values.set_nominal(arms)
        self.domain.draw(self.values, arms, values_draw, normal)
        for column, name in enumerate(self.domain.drift):
            self._drift_noise[name][arms] = drift_draw[:, column]
        self._drift(arms)
        if self._touches_plant:
            self.plant.apply(arms, self.values)
        self.goal[arms] = self.task.goals(goal_draw)
        if posture is None:
            spread = self.values["initial_posture_spread"][arms]
            posture = np.clip(HOME + spread * (posture_draw * 2.0 - 1.0), JOINT_LOW, JOINT_HIGH)
        self.plant.reset(arms, posture, self.task.cubes(cube_draw))
        self._path.reset(arms, posture, generators)
        return self.observe(arms)

    def step(self, actions: Float32Array) -> Step:
        """Run one control period of every arm."""
        self._send(np.clip(self._checked(actions), -1.0, 1.0))
        self.advance(self._substeps)
        obs = self.observe(self._everyone)
        ended = self.step_index >= self.task.episode_steps
        return Step(obs, self.task.rewards(obs), ended, self.task.is_success(obs))

    def command(self, actions: Float32Array) -> None:
        """Send actions (n, 7) of any size, relative to the last observed positions; `advance` makes them act."""
        self._send(self._checked(actions))

    def _checked(self, actions: Float32Array) -> FloatArray:
        if actions.shape != (self.n, 7) or not np.isfinite(actions).all():
            raise ValueError(f"actions must be finite numbers of shape {(self.n, 7)}, got {actions!r}")
        return actions.astype(np.float64)

    def _send(self, actions: FloatArray) -> None:
        self._drift_within_episode()
        self.step_index += 1
        self._targets = self._path.command(actions, self._measured_q)

    def limit_lead(self, farthest: FloatArray) -> None:
        """Limit the commands in force to `farthest` (7,) rad from the joints."""
        self._targets = np.clip(self._targets, self.plant.q - farthest, self.plant.q + farthest)

    def advance(self, substeps: int) -> None:
        """Run the simulator for `substeps` of its timesteps under the commands in force."""
        self.plant.advance(self._targets, substeps)

    def observe(self, arms: Arms) -> Float32Array:
        """Observe `arms` through their sensors."""
        q, dq = self._path.measure(self.plant.q[arms], self.plant.dq[arms], arms)
        self._measured_q[arms] = q
        return self.task.observation(q, dq, end_effector_position(q), self.plant.cube[arms], self.goal[arms])

    def _drift(self, arms: Arms) -> None:
        """Set the drifting parameters of `arms` for their episode and step."""
        for name, schedule in self.domain.drift.items():
            noise = self._drift_noise[name][arms]
            self.values[name][arms] = schedule.values(self.episode[arms], self.step_index[arms], noise)[:, None]

    def _drift_within_episode(self) -> None:
        started = np.flatnonzero(self.step_index > 0)  # at step 0 the reset has just done it
        if not self._moving or not len(started):
            return
        for name in self._moving:
            if self.domain.drift[name].draws_each_step:
                self._drift_noise[name][started] = [self.generators[arm].random() for arm in started]
        self._drift(started)
        if any(acts_on_plant(name) for name in self._moving):
            self.plant.apply(started, self.values)


def _touches_plant(domain: Domain) -> bool:
    return any(acts_on_plant(name) for name in domain.changed)
