"""The paper's locomotion shifts on gymnasium's robots: body lengths, gravity, headwind; fixed, drawn or drifting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import mujoco
import numpy as np
from gymnasium.envs.mujoco.ant_v5 import AntEnv
from gymnasium.envs.mujoco.hopper_v5 import HopperEnv
from gymnasium.envs.mujoco.humanoid_v5 import HumanoidEnv
from gymnasium.envs.mujoco.mujoco_env import MujocoEnv
from gymnasium.envs.mujoco.walker2d_v5 import Walker2dEnv
from numpy.typing import NDArray

from ompo_ros.sim.distributions import Constant, Distribution, Uniform
from ompo_ros.sim.drift import Noise, Schedule, Sine

Shift = Mapping[str, Distribution | Schedule]

AIR_DENSITY: Final = 1.2  # kg/m^3
AIR_VISCOSITY: Final = 2e-5  # Pa s
_CAPSULE_END: Final = 1.05  # m; gymnasium's torso centre hangs this far above the floor, plus its own half length


def _sine(mean: float, amplitude: float, rate: float, noise: float = 0.0) -> Schedule:
    return Schedule(Sine(mean, amplitude, rate), "episodes", Noise(-noise, noise, "steps") if noise else None)


_LENGTHS: Final = ("torso_length", "foot_length")
_HEAVY_WIND: Final[Shift] = {"gravity": Constant(19.62), "wind": Constant(1.0)}
_HEAVY_WIND_RANDOMIZED: Final[Shift] = {"gravity": Uniform(16.62, 22.62), "wind": Uniform(0.5, 1.2)}
_GRAVITY_DRIFT: Final = _sine(14.715, 4.905, 0.5, noise=3.0)
_SEVERE_GRAVITY_DRIFT: Final = _sine(17.1675, 12.2625, 0.5, noise=3.0)
_ANT_WIND_DRIFT: Final = _sine(1.0, 0.2, 0.5, noise=0.1)
_HUMANOID_WIND_DRIFT: Final = _sine(1.0, 0.5, 0.5, noise=0.1)

# The tables and formulas of the paper's appendix; lengths are half lengths of the capsules, as in the robots' files.
SHIFTS: Final[dict[str, dict[str, Shift]]] = {
    "Hopper": {
        "Source": {},
        "Target": {"torso_length": Constant(0.4), "foot_length": Constant(0.39)},
        "Randomized": {"torso_length": Uniform(0.3, 0.5), "foot_length": Uniform(0.29, 0.49)},
        "NonStationary": {"torso_length": _sine(0.4, 0.1, 0.2), "foot_length": _sine(0.39, 0.1, 0.2)},
    },
    "Walker2d": {
        "Source": {},
        "Target": {"torso_length": Constant(0.4), "foot_length": Constant(0.2)},
        "Randomized": {"torso_length": Uniform(0.1, 0.3), "foot_length": Uniform(0.05, 0.15)},
        "NonStationary": {"torso_length": _sine(0.2, 0.1, 0.3), "foot_length": _sine(0.1, 0.05, 0.3)},
    },
    "Ant": {
        "Source": {},
        "Target": _HEAVY_WIND,
        "Randomized": _HEAVY_WIND_RANDOMIZED,
        "NonStationary": {"gravity": _GRAVITY_DRIFT, "wind": _ANT_WIND_DRIFT},
        "SevereNonStationary": {"gravity": _SEVERE_GRAVITY_DRIFT, "wind": _ANT_WIND_DRIFT},
    },
    "Humanoid": {
        "Source": {},
        "Target": _HEAVY_WIND,
        "Randomized": _HEAVY_WIND_RANDOMIZED,
        "NonStationary": {"gravity": _GRAVITY_DRIFT, "wind": _HUMANOID_WIND_DRIFT},
        "SevereNonStationary": {"gravity": _SEVERE_GRAVITY_DRIFT, "wind": _HUMANOID_WIND_DRIFT},
    },
}


class _Shifted(MujocoEnv):
    """A gymnasium robot whose dynamics follow a shift; `info["domain"]` holds the values in force."""

    robot = ""

    def __init__(self, shift: str = "Source", **options: Any) -> None:  # noqa: ANN401 - the robot's own options
        shifts = SHIFTS[self.robot]
        if shift not in shifts:
            raise ValueError(f"{self.robot} has no shift {shift!r}, choose one of {', '.join(shifts)}")
        self._shift = shifts[shift]
        self._domain: dict[str, float] = {}
        self._episode = -1
        self._step = 0
        super().__init__(**options)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin an episode; its number and the seed determine the dynamics."""
        gymnasium.Env.reset(self, seed=seed)
        if seed is not None:
            self._episode = -1
        self._episode += 1
        self._step = 0
        self._choose(self._shift)
        self._rebuild()
        obs, info = super().reset(options=options)
        return obs, {**info, "domain": dict(self._domain)}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float64], np.float64, bool, bool, dict[str, Any]]:
        """Advance the drift within the episode, then step."""
        if self._step > 0:
            moving = {
                name: how for name, how in self._shift.items() if isinstance(how, Schedule) and how.moves_within_episode
            }
            self._choose(moving)
            self._set_medium()
        self._step += 1
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, terminated, truncated, {**info, "domain": dict(self._domain)}

    def _choose(self, shift: Shift) -> None:
        for name, how in shift.items():
            uniform = self.np_random.random(1)
            if isinstance(how, Schedule):
                value = how.values(np.array([self._episode]), np.array([self._step]), uniform)
            else:
                value = how.values(uniform, uniform)
            self._domain[name] = float(value[0])

    def _rebuild(self) -> None:
        """Recompile the robot if its body changed, so that masses, inertias and heights are consistent."""
        if any(name in self._domain for name in _LENGTHS):
            self.model = lengthened(self.fullpath, self._domain["torso_length"], self._domain["foot_length"])
            self.model.vis.global_.offwidth = max(self.model.vis.global_.offwidth, self.width)
            self.model.vis.global_.offheight = max(self.model.vis.global_.offheight, self.height)
            self.data = mujoco.MjData(self.model)
            self.init_qpos = self.data.qpos.ravel().copy()
            self._show_new_model()
        self._set_medium()

    def _set_medium(self) -> None:
        if "gravity" in self._domain:
            self.model.opt.gravity[2] = -self._domain["gravity"]
        if "wind" in self._domain:
            self.model.opt.wind[0] = -self._domain["wind"]  # against the direction of running
            self.model.opt.density = AIR_DENSITY
            self.model.opt.viscosity = AIR_VISCOSITY

    def _show_new_model(self) -> None:
        renderer = self.mujoco_renderer
        renderer.close()  # type: ignore[no-untyped-call]
        self.mujoco_renderer = type(renderer)(
            self.model, self.data, renderer.default_cam_config, self.width, self.height
        )


def lengthened(path: str, torso_length: float, foot_length: float) -> mujoco.MjModel:
    """Compile a Hopper or Walker2d with other half lengths of torso and feet.

    The torso grows upwards from the hip and each foot from its ankle in proportion; masses follow from the density and
    the start height from the torso, so that the feet hang as high above the floor as in the original.
    """
    spec = mujoco.MjSpec.from_file(path)
    spec.geom("torso_geom").size[1] = torso_length
    spec.body("torso").pos[2] = _CAPSULE_END + torso_length
    spec.joint("rootz").ref = _CAPSULE_END + torso_length
    for side in ("", "_left"):
        foot = spec.geom(f"foot{side}_geom")
        if foot is None:
            continue
        spec.body(f"thigh{side}").pos[2] = -torso_length
        ankle = spec.joint(f"foot{side}_joint").pos[0]
        foot.pos[0] = ankle + (foot.pos[0] - ankle) * foot_length / foot.size[1]
        foot.size[1] = foot_length
    return spec.compile()


class ShiftedHopper(_Shifted, HopperEnv):
    """Hopper with another torso and foot."""

    robot = "Hopper"


class ShiftedWalker2d(_Shifted, Walker2dEnv):
    """Walker2d with another torso and other feet."""

    robot = "Walker2d"


class ShiftedAnt(_Shifted, AntEnv):
    """Ant under other gravity and against the wind."""

    robot = "Ant"


class ShiftedHumanoid(_Shifted, HumanoidEnv):
    """Humanoid under other gravity and against the wind."""

    robot = "Humanoid"
