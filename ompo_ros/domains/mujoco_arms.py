"""N Pandas in MuJoCo, each with a model of its own, stepped in threads."""

from __future__ import annotations

import copy
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import mujoco
import numpy as np

from ompo_ros.domains.domain import Simulator
from ompo_ros.domains.kinematics import FloatArray
from ompo_ros.domains.parameters import Arms, DomainValues
from ompo_ros.domains.plant import ImageArray
from ompo_ros.domains.tasks import Task
from ompo_ros.resources import resource_path

_INTEGRATORS: Final = {
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
}
_CHUNKS_PER_THREAD: Final = 4  # so that a thread the machine held up does not hold up the others
_NOMINAL_GRAVITY: Final = 9.81
_PAYLOAD_RADIUS: Final = 0.04  # m; the payload is a solid ball


class MujocoArms:
    """The arms' models and states. MuJoCo releases the interpreter while it steps, so threads use every core."""

    def __init__(self, task: Task, n: int, simulator: Simulator, threads: int | None = None) -> None:
        self._nominal = mujoco.MjModel.from_xml_path(str(resource_path(f"models/panda/{task.name}.xml")))
        self._nominal.opt.timestep = simulator.timestep
        self._nominal.opt.integrator = _INTEGRATORS[simulator.integrator]
        self.timestep = simulator.timestep
        self.models = [copy.copy(self._nominal) for _ in range(n)]
        self.datas = [mujoco.MjData(model) for model in self.models]
        self._scratch = mujoco.MjData(self._nominal)
        self.q: FloatArray = np.zeros((n, 7))
        self.dq: FloatArray = np.zeros((n, 7))
        self.cube: FloatArray = np.zeros((n, 3))
        self._has_cube = task.has_cube
        self._ids = _Ids(self._nominal, task.has_cube)
        self._views = [(data.ctrl, data.qpos, data.qvel) for data in self.datas]
        threads = min(n, threads or len(os.sched_getaffinity(0)))
        chunks = threads if threads == 1 else min(n, _CHUNKS_PER_THREAD * threads)
        self._chunks = [range(n)[start::chunks] for start in range(chunks)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._renderer: mujoco.Renderer | None = None

    def check(self, names: tuple[str, ...]) -> None:
        """MuJoCo expresses every parameter there is."""

    def apply(self, arms: Arms, values: DomainValues) -> None:
        """Write model fields from the nominal model and the values, so that nothing of an earlier domain remains."""
        nominal, ids = self._nominal, self._ids
        link_scale = values["link_mass_scale"][arms][:, ids.joint_of_body]
        payload = values["payload_mass"][arms, 0]
        gravity = values["gravity"][arms, 0]
        gain = nominal.actuator_gainprm[:, 0] * values["stiffness_scale"][arms]
        servo_damping = nominal.actuator_biasprm[:, 2] * values["servo_damping_scale"][arms]
        for row, arm in enumerate(arms):
            model = self.models[arm]
            model.body_mass[ids.links] = nominal.body_mass[ids.links] * link_scale[row]
            model.body_inertia[ids.links] = nominal.body_inertia[ids.links] * link_scale[row, :, None]
            # The arm's controller lifts what it believes the links to weigh: nominal mass under nominal gravity.
            model.body_gravcomp[ids.links] = _NOMINAL_GRAVITY / (gravity[row] * link_scale[row])
            model.body_mass[ids.payload] = payload[row]
            model.body_inertia[ids.payload] = 0.4 * payload[row] * _PAYLOAD_RADIUS**2
            model.dof_damping[:7] = nominal.dof_damping[:7] * values["joint_damping_scale"][arm]
            model.dof_armature[:7] = nominal.dof_armature[:7] * values["armature_scale"][arm]
            model.dof_frictionloss[:7] = values["friction_loss"][arm]
            model.actuator_gainprm[:, 0] = gain[row]
            model.actuator_biasprm[:, 1] = -gain[row]
            model.actuator_biasprm[:, 2] = servo_damping[row]
            model.opt.gravity[2] = -gravity[row]
            model.pair_friction[:, :2] = values["contact_friction"][arm]
            if self._has_cube:
                mass = values["cube_mass"][arm, 0]
                model.body_inertia[ids.cube] = nominal.body_inertia[ids.cube] * (mass / nominal.body_mass[ids.cube])
                model.body_mass[ids.cube] = mass
            mujoco.mj_setConst(model, self._scratch)  # what MuJoCo derives from masses

    def reset(self, arms: Arms, posture: FloatArray, cube: FloatArray) -> None:
        for row, arm in enumerate(arms):
            mujoco.mj_resetData(self.models[arm], self.datas[arm])
            ctrl, qpos, _ = self._views[arm]
            qpos[:7] = ctrl[:] = posture[row]
            if self._has_cube:
                qpos[7:10] = cube[row]
        self.q[arms], self.dq[arms], self.cube[arms] = posture, 0.0, cube

    def advance(self, targets: FloatArray, substeps: int) -> None:
        if self._pool is None:
            self._advance(self._chunks[0], targets, substeps)
            return
        running = [self._pool.submit(self._advance, chunk, targets, substeps) for chunk in self._chunks]
        for future in running:
            future.result()

    def _advance(self, arms: range, targets: FloatArray, substeps: int) -> None:
        step, models, datas, views = mujoco.mj_step, self.models, self.datas, self._views
        for arm in arms:
            ctrl, qpos, qvel = views[arm]
            ctrl[:] = targets[arm]
            step(models[arm], datas[arm], substeps)
            self.q[arm] = qpos[:7]
            self.dq[arm] = qvel[:7]
            if self._has_cube:
                self.cube[arm] = qpos[7:10]

    def render(self, goal: FloatArray) -> ImageArray:
        model, data = self.models[0], self.datas[0]
        if self._renderer is None:
            self._renderer = mujoco.Renderer(model, height=480, width=640)
        model.site_pos[model.site("goal").id] = goal
        mujoco.mj_kinematics(model, data)  # positions only: looking must not touch the dynamics
        mujoco.mj_camlight(model, data)
        self._renderer.update_scene(data, camera="overview")
        image: ImageArray = self._renderer.render()
        return image

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


class _Ids:
    """Where in the model's arrays the things stand that parameters change."""

    def __init__(self, model: mujoco.MjModel, has_cube: bool) -> None:
        names = [f"link{i}" for i in range(1, 8)] + ["hand"]
        self.links = np.array([model.body(name).id for name in names])
        self.joint_of_body = np.array([0, 1, 2, 3, 4, 5, 6, 6])  # the hand is scaled with the last link
        self.payload = model.body("payload").id
        self.cube = model.body("cube").id if has_cube else -1
