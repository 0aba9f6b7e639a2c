"""The paper's Meta-World tasks, an extra: the metaworld package needs a particular version of MuJoCo."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

_WHAT_TO_DO: Final = (
    "Meta-World is an extra that needs the MuJoCo version it was written for, so it gets an environment of its own: "
    "`python -m venv metaworld && metaworld/bin/pip install -r requirements/metaworld.txt`."
)

try:
    import metaworld
    import mujoco
except ImportError as error:
    raise ImportError(f"The metaworld package is not installed. {_WHAT_TO_DO}") from error
if mujoco.mjNEQDATA != 11:  # metaworld writes this many numbers for each of its welds
    raise ImportError(f"The metaworld package does not work with MuJoCo {mujoco.__version__}. {_WHAT_TO_DO}")

_GOALS_SEED: Final = 0


class MetaWorldTask(gymnasium.Env[NDArray[np.float64], NDArray[np.float32]]):
    """One task with its 50 goal positions, one of which each episode draws; `info["is_success"]` as everywhere here."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 80}  # noqa: RUF012

    def __init__(self, task: str, render_mode: str | None = None) -> None:
        benchmark = metaworld.MT1(f"{task}-v3", seed=_GOALS_SEED)
        self._goals = benchmark.train_tasks
        self._env = benchmark.train_classes[f"{task}-v3"](render_mode=render_mode)
        self._env.set_task(self._goals[0])
        # The package's own bounds hide the goal, and its first observation violates them.
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, self._env.observation_space.shape, np.float64)
        self.action_space = self._env.action_space
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode with one of the goals, chosen by the seed."""
        super().reset(seed=seed)
        self._env.set_task(self._goals[int(self.np_random.integers(len(self._goals)))])
        obs, info = self._env.reset()
        return obs, {**info, "is_success": False}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self._env.step(action)
        return obs, float(reward), bool(terminated), bool(truncated), {**info, "is_success": bool(info["success"])}

    def render(self) -> Any:  # noqa: ANN401 - whatever metaworld renders
        return self._env.render()

    def close(self) -> None:
        self._env.close()
