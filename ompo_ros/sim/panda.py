"""The Panda tasks as gymnasium environments: one arm, or N at once with the same code and the same numbers."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.limits import CommandLimits
from ompo_ros.sim.mujoco_arms import MujocoArms
from ompo_ros.sim.plant import ImageArray
from ompo_ros.sim.world import PandaWorld
from ompo_ros.task.contract import Contract
from ompo_ros.task.robot import Robot
from ompo_ros.task.tasks import CONTROL_RATE, Float32Array, Task


def observation_space(contract: Contract) -> gymnasium.spaces.Box[Any]:
    """Observations are unbounded: the learner normalises them."""
    return gymnasium.spaces.Box(-np.inf, np.inf, (contract.observation_size,), np.float32)


def action_space(contract: Contract) -> gymnasium.spaces.Box[Any]:
    """Actions have the contract's bounds."""
    limit = contract.action_limit
    return gymnasium.spaces.Box(-limit, limit, (contract.action_size,), np.float32)


class SinglePanda(gymnasium.Env[Float32Array, Float32Array]):
    """One arm of any simulator; `info` carries success and the domain's values with every transition."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": CONTROL_RATE}  # noqa: RUF012 - gymnasium's own form

    def __init__(self, world: PandaWorld, render_mode: str | None = None) -> None:
        self.world = world
        self.contract = world.task.contract
        self.observation_space = observation_space(self.contract)
        self.action_space = action_space(self.contract)
        self.render_mode = render_mode
        self._arm = np.array([0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32Array, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or self.world.episode[0] < 0:
            self.world.seed([self.np_random])
        obs = self.world.reset(self._arm)[0]
        return obs, self._info(bool(self.world.task.is_success(obs)))

    def step(self, action: Float32Array) -> tuple[Float32Array, float, bool, bool, dict[str, Any]]:
        step = self.world.step(np.asarray(action, dtype=np.float32)[None])
        return step.obs[0], float(step.reward[0]), False, bool(step.truncated[0]), self._info(bool(step.is_success[0]))

    def render(self) -> ImageArray | None:
        return self.world.plant.render(self.world.goal[0]) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self.world.plant.close()

    def _info(self, is_success: bool) -> dict[str, Any]:
        return {"is_success": is_success, "domain": self.world.values.of_arm(0)}


class PandaEnv(SinglePanda):
    """One Panda in MuJoCo."""

    def __init__(
        self,
        task: str = "reach",
        reward: str = "dense",
        domain: str | Domain = "nominal",
        render_mode: str | None = None,
    ) -> None:
        chosen = domain if isinstance(domain, Domain) else load_domain(domain)
        made = Task(task, reward)
        super().__init__(PandaWorld(made, chosen, MujocoArms(made, 1, chosen.simulator)), render_mode)


class PandaVectorEnv(VectorEnv[Float32Array, Float32Array, NDArray[Any]]):
    """N Pandas in MuJoCo, each in its own domain; when an arm's episode ends, the next one starts in the same step.

    Arm i seeded with `seed` moves exactly as a single environment seeded with `seed + i`.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        task: str = "reach",
        reward: str = "dense",
        domain: str | Domain = "nominal",
        threads: int | None = None,
        render_mode: str | None = None,
        limits: Robot | None = None,
    ) -> None:
        """With `limits`, commands keep the step, velocity and acceleration limits of a robot's safety filter."""
        chosen = domain if isinstance(domain, Domain) else load_domain(domain)
        if chosen.beyond is not None:
            raise ValueError(f"domain {chosen.name!r} has a section `beyond`, which only a stand-in robot supports")
        made = Task(task, reward)
        plant = MujocoArms(made, num_envs, chosen.simulator, threads)
        self.world = PandaWorld(made, chosen, plant, None if limits is None else CommandLimits(limits, num_envs))
        self.contract = made.contract
        self.num_envs = num_envs
        self.single_observation_space = observation_space(self.contract)
        self.single_action_space = action_space(self.contract)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32Array, dict[str, Any]]:
        if seed is not None or self.world.episode[0] < 0:
            seeds = (
                seed if isinstance(seed, list) else [None if seed is None else seed + i for i in range(self.num_envs)]
            )
            self.world.seed([gymnasium.utils.seeding.np_random(each)[0] for each in seeds])
        obs = self.world.reset(np.arange(self.num_envs))
        return obs, self._info(self.world.task.is_success(obs))

    def set_domain(self, domain: Domain) -> None:
        """Draw from another domain, starting with each arm's next episode."""
        self.world.set_domain(domain)

    def step(
        self, actions: Float32Array
    ) -> tuple[Float32Array, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Step all arms; `info["final_obs"]` holds every arm's next observation, taken before any reset."""
        step = self.world.step(actions)
        info = self._info(step.is_success)
        obs = step.obs
        ended = np.flatnonzero(step.truncated)
        info["final_obs"], info["_final_obs"] = step.obs, step.truncated
        if len(ended):
            obs = step.obs.copy()
            obs[ended] = self.world.reset(ended)
        return obs, step.reward, np.zeros(self.num_envs, dtype=np.bool_), step.truncated, info

    def render(self) -> tuple[ImageArray, ...] | None:
        return (self.world.plant.render(self.world.goal[0]),) if self.render_mode == "rgb_array" else None

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401 - the base class's signature
        self.world.plant.close()

    def _info(self, is_success: NDArray[np.bool_]) -> dict[str, Any]:
        """Success, and the values in force: row i of `domain` belongs to arm i, its columns are `COLUMN_NAMES`."""
        domain_id = (self.world.episode * self.num_envs + np.arange(self.num_envs)).astype(np.uint32)
        return {"is_success": is_success, "domain": self.world.values.table.copy(), "domain_id": domain_id}
