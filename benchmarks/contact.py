"""The loads that a push puts on the arm, and which of them would stop an FR3: a script or a policy in MuJoCo, by cube.

    python benchmarks/contact.py [--policy FILE.onnx] [--episodes 100] [--seed 0]

All contacts of the arm count, at every millisecond, as in the robot's own cycle. Momentary loads are low-passed: a
robot's reflex acts on its estimate of them. `pressed`: episodes over a threshold whose largest force is more vertical
than horizontal, since the fingers came down on the cube. `pinned` cubes are too heavy to move, as something that is in
the way is. Last line: one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

import mujoco
import numpy as np

from ompo_ros.control.collector import Collector, CollectorPhase
from ompo_ros.control.safety import ArmState
from ompo_ros.fci.collision import THRESHOLDS
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.sim.distributions import Constant
from ompo_ros.sim.domain import Domain, Drawn, Simulator
from ompo_ros.sim.mujoco_arms import MujocoArms
from ompo_ros.sim.stand_in import StandIn
from ompo_ros.task.acting import Policy
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import JOINTS, load_robot
from ompo_ros.task.tasks import Float32Array, Task
from ompo_ros.task.teacher import push_actions

PUSH: Final = Task("push", "dense")
CUBES: Final = {"light": (0.1, 0.15), "usual": (1.0, 0.5), "heavy": (3.0, 1.0), "pinned": (100.0, 1.0)}  # kg, friction
SIMULATOR: Final = Simulator(timestep=0.001)
# The maker says that the robot's estimate is low-passed, not how. Observers of external torque commonly have a time
# constant of 10 to 20 ms; the shorter one lets more of a blow through.
SMOOTHING: Final = 0.01  # s
WINDOW: Final = round(0.5 / SIMULATOR.timestep)  # half a second
TOUCHING: Final = 0.5  # N
FORCE, SMOOTH_FORCE, VERTICAL, MOMENT, TORQUES = 0, 1, 2, 3, slice(4, 4 + JOINTS)  # columns of what is noted

COLUMNS: Final = {  # of the table, with digits; shares are of the episodes
    "median_n": 1,
    "half_second_n": 1,
    "p99_n": 0,
    "peak_n": 0,
    "over_force": 2,
    "over_torque": 2,
    "over_either": 2,
    "pressed": 2,
    "episodes": 0,
    "stops": 0,
    "pushed": 0,
}


class Script:
    """The scripted push as a policy."""

    version, sha256 = 1, ""
    rest_action: Float32Array = np.zeros(JOINTS, dtype=np.float32)

    def act(self, obs: Float32Array) -> Float32Array:
        (action,) = push_actions(obs.reshape(1, -1))
        return np.asarray(action)

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        return self.act(obs)


class WatchedArm(MujocoArms):
    """Notes at every timestep what the contacts do to the arm."""

    def __init__(self) -> None:
        super().__init__(PUSH, 1, SIMULATOR, threads=1)
        model = self.models[0]
        self._data = mujoco.MjData(model)
        self._others = {model.geom(name).id for name in ("cube", "table")}
        self._point = model.site("end_effector").id
        self._gain = -np.expm1(-SIMULATOR.timestep / SMOOTHING)
        self._smooth: FloatArray = np.zeros(6 + JOINTS)
        self._noted: list[FloatArray] = []

    def advance(self, targets: FloatArray, substeps: int) -> None:
        for _ in range(substeps):
            self._note(targets[0])
            super().advance(targets, 1)

    def taken(self) -> FloatArray:
        """What was noted (n, columns) since the last call."""
        noted = np.array(self._noted)
        self._noted.clear()
        return noted

    def _note(self, target: FloatArray) -> None:
        """Contact forces depend on the drives' too, which are no part of the state: hence the target."""
        model, data = self.models[0], self._data
        mujoco.mj_setState(model, data, self.state[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        data.ctrl[:] = target
        mujoco.mj_forward(model, data)
        load = self._load()
        self._smooth += self._gain * (load - self._smooth)
        parts = load[:3], self._smooth[:3], self._smooth[2:3], self._smooth[3:6]
        self._noted.append(np.array([*(np.linalg.norm(part) for part in parts), *np.abs(self._smooth[6:])]))

    def _load(self) -> FloatArray:
        """Force and torque on the hand's point, and the torques that the joints feel of them."""
        model, data = self.models[0], self._data
        load, wrench, jacobian = np.zeros(6 + JOINTS), np.zeros(6), np.zeros((3, model.nv))
        point = data.site_xpos[self._point]
        for index, contact in enumerate(data.contact):
            first, second = contact.geom
            if first in self._others and second in self._others:
                continue
            mujoco.mj_contactForce(model, data, index, wrench)  # what the first does to the second
            force = contact.frame.reshape(3, 3).T @ wrench[:3] * (-1.0 if second in self._others else 1.0)
            touched = model.geom_bodyid[first if second in self._others else second]
            mujoco.mj_jac(model, data, jacobian, None, contact.pos, touched)
            load += np.concatenate((force, np.cross(contact.pos - point, force), jacobian[:, :JOINTS].T @ force))
        return load


def measure(policy: Policy, mass: float, friction: float, episodes: int, seed: int) -> dict[str, float | list[float]]:
    """Push `episodes` times, or until the arm is held."""
    constants = {"cube_mass": Drawn(Constant(mass)), "contact_friction": Drawn(Constant(friction))}
    domain, robot, plant = Domain("contact", constants, {}, SIMULATOR), load_robot("panda"), WatchedArm()
    arm = StandIn(robot, PUSH, domain, plant, seed, command_timeout=0.5)
    collector = Collector(robot, PUSH, seed=seed, cube_rest_time=0.0)
    collector.enabled = True
    evaluation = collector.player.evaluate(policy, episodes)
    played: list[FloatArray] = []
    stops = 0
    while not evaluation.done and collector.phase is not CollectorPhase.HELD:
        measured, now, was = arm.measured, arm.time, collector.phase
        tick = collector.tick(ArmState(measured.position, measured.velocity, now), measured.cube, now)
        stops += was is CollectorPhase.RUNNING and collector.problem.startswith("stopped")
        if was is not CollectorPhase.RUNNING and collector.phase is CollectorPhase.RUNNING:
            played.append(plant.taken())
        if tick.command is not None:
            arm.command(tick.command.position)
        arm.advance(robot.period)
    played = [*played[1:], plant.taken()]  # the first led to the first episode
    arm.close()
    pushed = sum(each.success for each in evaluation.played)
    return {**_loads(played), **_shares(played), "episodes": len(played), "stops": stops, "pushed": pushed}


def _loads(played: list[FloatArray]) -> dict[str, float | list[float]]:
    noted = np.concatenate(played)
    touching, smooth = (noted[noted[:, column] > TOUCHING, column] for column in (FORCE, SMOOTH_FORCE))
    windows = [np.lib.stride_tricks.sliding_window_view(each[:, FORCE], WINDOW).mean(axis=1).max() for each in played]
    return {
        "median_n": float(np.median(touching)),
        "half_second_n": float(max(windows)),
        "p99_n": float(np.percentile(smooth, 99)),
        "peak_n": float(smooth.max()),
        "hand_nm": float(noted[:, MOMENT].max()),
        "joints_nm": noted[:, TORQUES].max(axis=0).round(1).tolist(),
    }


def _shares(played: list[FloatArray]) -> dict[str, float | list[float]]:
    """How many episodes an FR3 would not have finished; it compares each axis, so the size of a force is no less."""
    shipped = THRESHOLDS["push"]
    highest = np.array([each[each[:, SMOOTH_FORCE].argmax()] for each in played])
    force = highest[:, SMOOTH_FORCE] > shipped.force[0]
    vertical = highest[:, VERTICAL] > np.sqrt(0.5) * highest[:, SMOOTH_FORCE]
    torque = np.array([each[:, TORQUES].max(axis=0) for each in played]) > shipped.torque
    stopped = force | torque.any(axis=1)
    return {
        "over_force": float(force.mean()),
        "over_torque": float(torque.any(axis=1).mean()),
        "over_torque_of_joints": torque.mean(axis=0).round(3).tolist(),
        "over_either": float(stopped.mean()),
        "pressed": float((stopped & vertical).mean()),
        "episode_peaks_n": np.sort(highest[:, SMOOTH_FORCE]).round().tolist(),
    }


def main() -> None:
    """Measure every kind of cube."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=Path, help="a Panda's policy for push; default: the script")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    policy: Policy = Script()
    if given.policy is not None:
        policy = PolicyRuntime(given.policy.read_bytes(), PUSH.on(load_robot("panda")))
    sys.stdout.write(
        f"{'cube':8}{'kg':>5} {'friction':>9}" + "".join(f"{name:>14}" for name in COLUMNS) + "  joints_nm\n"
    )
    found = {}
    for name, (mass, friction) in CUBES.items():
        found[name] = each = measure(policy, mass, friction, given.episodes, given.seed)
        figures = "".join(f"{each[column]:14.{digits}f}" for column, digits in COLUMNS.items())
        sys.stdout.write(f"{name:8}{mass:5g} {friction:9g}{figures}  {each['joints_nm']}\n")
        sys.stdout.flush()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
