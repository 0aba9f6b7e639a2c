"""panda-gym's own PandaReach and PandaPush (PyBullet) behind the contract: a target with other physics."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.panda import SinglePanda
from ompo_ros.sim.panda_gym_package import panda_gym_envs, without_banner
from ompo_ros.sim.parameters import Arms, DomainValues, require_expressible
from ompo_ros.sim.plant import ImageArray
from ompo_ros.sim.world import PandaWorld
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.tasks import Task

_BASE: Final = np.array([-0.6, 0.0, 0.0])  # panda-gym's base position; the contract uses the arm's frame
_UPRIGHT: Final = np.array([0.0, 0.0, 0.0, 1.0])
_CLOSED: Final = [0.0, 0.0]  # the fingers
_ARM_JOINTS: Final = list(range(7))
_JOINTS: Final = [*_ARM_JOINTS, 9, 10]  # and the fingers
_HAND_LINK: Final = 8
_SCALED_LINKS: Final = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (_HAND_LINK, 6))  # link, its joint
_PAYLOAD_LINK: Final = 11  # the grasp target between the fingers
_POSITION_GAIN: Final = 0.1  # PyBullet's defaults, which panda-gym uses
_VELOCITY_GAIN: Final = 1.0


class PandaGymArm:
    """panda-gym's arm, table and cube as a plant; its position motors are PyBullet's, not a stiffness in N m/rad."""

    def __init__(self, task: Task) -> None:
        make = panda_gym_envs.PandaPushEnv if task.has_cube else panda_gym_envs.PandaReachEnv
        with without_banner():
            self._env = make(render_mode="rgb_array", control_type="joints")
        self._sim = self._env.sim
        self._client = self._sim.physics_client
        self._body = self._sim._bodies_idx[self._env.robot.body_name]  # panda-gym offers no other way
        self._has_cube = task.has_cube
        self._cube_body = self._sim._bodies_idx["object"] if task.has_cube else -1
        self._table_body = self._sim._bodies_idx["table"]
        self._forces = self._env.robot.joint_forces.tolist()
        self._nominal = {link: self._dynamics(self._body, link) for link, _ in (*_SCALED_LINKS, (_PAYLOAD_LINK, 6))}
        self._position_gains = [_POSITION_GAIN] * 9
        self._velocity_gains = [_VELOCITY_GAIN] * 9
        self._fresh = self._client.saveState()
        self.timestep: float = self._sim.timestep
        self.q: FloatArray = np.zeros((1, 7))
        self.dq: FloatArray = np.zeros((1, 7))
        self.cube: FloatArray = np.zeros((1, 3))

    def check(self, names: tuple[str, ...]) -> None:
        require_expressible(names)

    def apply(self, arms: Arms, values: DomainValues) -> None:
        friction = float(values["contact_friction"][0, 0])
        scales = values["link_mass_scale"][0]
        for link, joint in _SCALED_LINKS:
            mass, inertia = self._nominal[link]
            self._set_mass(self._body, link, mass * scales[joint], inertia * scales[joint])
        payload = float(values["payload_mass"][0, 0])
        mass, inertia = self._nominal[_PAYLOAD_LINK]
        self._set_mass(self._body, _PAYLOAD_LINK, mass + payload, inertia)
        self._position_gains[:7] = (_POSITION_GAIN * values["stiffness_scale"][0]).tolist()
        self._velocity_gains[:7] = (_VELOCITY_GAIN * values["servo_damping_scale"][0]).tolist()
        self._client.setGravity(0.0, 0.0, -float(values["gravity"][0, 0]))
        self._client.changeDynamics(self._table_body, -1, lateralFriction=friction)
        if self._has_cube:
            self._client.changeDynamics(self._cube_body, -1, lateralFriction=friction)
            mass = float(values["cube_mass"][0, 0])
            self._set_mass(self._cube_body, -1, mass, np.full(3, mass * 0.04**2 / 6.0))

    def reset(self, arms: Arms, posture: FloatArray, cube: FloatArray) -> None:
        self._forget_contacts()
        self._env.robot.set_joint_angles(np.array([*posture[0], *_CLOSED]))
        self._command(posture[0])
        if self._has_cube:
            self._sim.set_base_pose("object", cube[0] + _BASE, _UPRIGHT)
            self._client.resetBaseVelocity(self._cube_body, [0.0] * 3, [0.0] * 3)
        self.q[0], self.dq[0], self.cube[0] = posture[0], 0.0, cube[0]

    def advance(self, targets: FloatArray, substeps: int) -> None:
        self._command(targets[0])
        for _ in range(substeps):
            self._client.stepSimulation()
        states = self._client.getJointStates(self._body, _ARM_JOINTS)
        self.q[0] = [state[0] for state in states]
        self.dq[0] = [state[1] for state in states]
        if self._has_cube:
            self.cube[0] = self._sim.get_base_position("object") - _BASE

    def render(self, goal: FloatArray) -> ImageArray:
        self._sim.set_base_pose("target", goal + _BASE, _UPRIGHT)
        image: ImageArray = self._env.render()
        return image

    def close(self) -> None:
        self._env.close()

    def _forget_contacts(self) -> None:
        """Separate all bodies once, since PyBullet keeps contacts from one episode to the next."""
        if self._has_cube:
            self._sim.set_base_pose("object", np.array([0.0, 0.0, 5.0]), _UPRIGHT)
            self._client.stepSimulation()
        self._client.restoreState(self._fresh)

    def _command(self, target: FloatArray) -> None:
        self._client.setJointMotorControlArray(
            self._body,
            _JOINTS,
            self._client.POSITION_CONTROL,
            targetPositions=[*target, *_CLOSED],
            forces=self._forces,
            positionGains=self._position_gains,
            velocityGains=self._velocity_gains,
        )

    def _dynamics(self, body: int, link: int) -> tuple[float, FloatArray]:
        info: Any = self._client.getDynamicsInfo(body, link)
        return float(info[0]), np.array(info[2])

    def _set_mass(self, body: int, link: int, mass: float, inertia: FloatArray) -> None:
        self._client.changeDynamics(body, link, mass=mass)
        self._client.changeDynamics(body, link, localInertiaDiagonal=inertia.tolist())  # setting the mass replaced it


class PandaGymEnv(SinglePanda):
    """One Panda in panda-gym, by default under the paper's disturbance of the actions."""

    def __init__(
        self, task: str = "reach", reward: str = "dense", domain: str | Domain = "paper", render_mode: str | None = None
    ) -> None:
        made = Task(task, reward)
        chosen = domain if isinstance(domain, Domain) else load_domain(domain)
        super().__init__(PandaWorld(made, chosen, PandaGymArm(made)), render_mode)
