"""N Pandas in MuJoCo, each with a model of its own, stepped in MuJoCo's threads."""

from __future__ import annotations

import copy
import os
from typing import Final

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from ompo_ros.resources import resource_path
from ompo_ros.sim.domain import Simulator
from ompo_ros.sim.parameters import Arms, DomainValues
from ompo_ros.sim.plant import ImageArray
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Task

_INTEGRATORS: Final = {
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
}
_STATE: Final = mujoco.mjtState.mjSTATE_FULLPHYSICS
_NOMINAL_GRAVITY: Final = 9.81
_PAYLOAD_RADIUS: Final = 0.04  # m; the payload is a solid ball


class MujocoArms:
    """Models and states of the arms; one call steps all of them in MuJoCo's own threads."""

    def __init__(self, task: Task, n: int, simulator: Simulator, threads: int | None = None) -> None:
        self._nominal = mujoco.MjModel.from_xml_path(str(resource_path(f"models/panda/{task.name}.xml")))
        self._nominal.opt.timestep = simulator.timestep
        self._nominal.opt.integrator = _INTEGRATORS[simulator.integrator]
        self.timestep = simulator.timestep
        self.models = [copy.copy(self._nominal) for _ in range(n)]
        threads = min(n, threads or len(os.sched_getaffinity(0)))
        self._workers = [mujoco.MjData(self._nominal) for _ in range(threads)]
        self._rollout = Rollout(nthread=threads if threads > 1 else 0)
        self._rest = _state_of(self._nominal, mujoco.MjData(self._nominal))
        self.state: FloatArray = np.tile(self._rest, (n, 1))  # time, positions, velocities
        velocities = 1 + self._nominal.nq
        self.q = self.state[:, 1:8]
        self.dq = self.state[:, velocities : velocities + 7]
        self.cube = self.state[:, 8:11] if task.has_cube else np.zeros((n, 3))
        self._commands: FloatArray = np.empty((n, 0, 7))
        self._states: FloatArray = np.empty((n, 0, self.state.shape[1]))
        self._has_cube = task.has_cube
        self._ids = _Ids(self._nominal, task.has_cube)
        self._renderer: mujoco.Renderer | None = None

    def check(self, names: tuple[str, ...]) -> None:
        """MuJoCo supports every parameter."""

    def apply(self, arms: Arms, values: DomainValues) -> None:
        """Write model fields from the nominal model and the values, so that no earlier domain remains."""
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
            # The controller compensates nominal masses under nominal gravity.
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
            mujoco.mj_setConst(model, self._workers[0])  # what MuJoCo derives from masses

    def reset(self, arms: Arms, posture: FloatArray, cube: FloatArray) -> None:
        self.state[arms] = self._rest
        self.q[arms] = posture
        self.cube[arms] = cube

    def advance(self, targets: FloatArray, substeps: int) -> None:
        commands, states = self._buffers(substeps)
        commands[:] = targets[:, None, :]
        self._rollout.rollout(
            self.models,
            self._workers,
            self.state,
            commands,
            skip_checks=True,
            nstep=substeps,
            state=states,
            chunk_size=1,  # so that one delayed thread does not delay the others
        )
        self.state[:] = states[:, -1]

    def predict(self, q: FloatArray, dq: FloatArray, targets: FloatArray, substeps: int) -> FloatArray:
        """Predict the next state (arms, rows, 14) of each arm from every state (rows, 7); nothing moves."""
        arms, rows = targets.shape[:2]
        start = np.tile(self._rest, (arms, rows, 1))
        velocities = 1 + self._nominal.nq
        start[..., 1:8], start[..., velocities : velocities + 7] = q, dq
        flat = start.reshape(arms * rows, -1)
        states: FloatArray = np.empty((arms * rows, substeps, flat.shape[1]))
        commands = np.repeat(targets.reshape(arms * rows, 1, 7), substeps, axis=1)
        models = [model for model in self.models[:arms] for _ in range(rows)]
        self._rollout.rollout(
            models, self._workers, flat, commands, skip_checks=True, nstep=substeps, state=states, chunk_size=1
        )
        end = states[:, -1]
        return np.concatenate((end[:, 1:8], end[:, velocities : velocities + 7]), axis=1).reshape(arms, rows, 14)

    def _buffers(self, substeps: int) -> tuple[FloatArray, FloatArray]:
        """Preallocated commands and states of a rollout: fresh pages each step would cost as much as the copies."""
        if self._commands.shape[1] != substeps:
            n, size = self.state.shape
            self._commands = np.empty((n, substeps, 7))
            self._states = np.empty((n, substeps, size))
        return self._commands, self._states

    def render(self, goal: FloatArray) -> ImageArray:
        model, data = self.models[0], self._workers[0]
        if self._renderer is None:
            self._renderer = mujoco.Renderer(model, height=480, width=640)
        model.site_pos[model.site("goal").id] = goal
        mujoco.mj_setState(model, data, self.state[0], _STATE)
        mujoco.mj_forward(model, data)
        self._renderer.update_scene(data, camera="overview")
        image: ImageArray = self._renderer.render()
        return image

    def close(self) -> None:
        self._rollout.close()
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def _state_of(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    state: FloatArray = np.empty(mujoco.mj_stateSize(model, _STATE))
    mujoco.mj_getState(model, data, state, _STATE)
    return state


class _Ids:
    """Indices of the model's arrays that parameters change."""

    def __init__(self, model: mujoco.MjModel, has_cube: bool) -> None:
        names = [f"link{i}" for i in range(1, 8)] + ["hand"]
        self.links = np.array([model.body(name).id for name in names])
        self.joint_of_body = np.array([0, 1, 2, 3, 4, 5, 6, 6])  # the hand is scaled with the last link
        self.payload = model.body("payload").id
        self.cube = model.body("cube").id if has_cube else -1
