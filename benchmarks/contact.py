"""The forces that push takes, and those at which the arm is stopped: the scripted push in MuJoCo, cube by cube.

    python benchmarks/contact.py [--episodes 20] [--seed 0]

Forces are those between arm and cube at the end of each control period. `pinned` cubes are too heavy to move, as
something that is in the way is. Last line: one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from ompo_ros.control.collector import Collector, CollectorPhase
from ompo_ros.control.safety import ArmState
from ompo_ros.sim.distributions import Constant
from ompo_ros.sim.domain import Domain, Drawn, Simulator
from ompo_ros.sim.mujoco_arms import MujocoArms
from ompo_ros.sim.stand_in import StandIn
from ompo_ros.task.kinematics import FloatArray
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Float32Array, Task
from ompo_ros.task.teacher import push_actions

PUSH: Final = Task("push", "dense")
CUBES: Final = {"light": (0.1, 0.15), "usual": (1.0, 0.5), "heavy": (3.0, 1.0), "pinned": (100.0, 1.0)}  # kg, friction
WINDOW: Final = 12  # control periods: about half a second
TOUCHING: Final = 0.5  # N


class Script:
    """The scripted push as a policy."""

    version, sha256 = 1, ""

    def act(self, obs: Float32Array) -> Float32Array:
        (action,) = push_actions(obs.reshape(1, -1))
        return np.asarray(action)

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        return self.act(obs)


@dataclass
class Contacts:
    """Reads the force between arm and cube from a stand-in's state."""

    plant: MujocoArms

    def __post_init__(self) -> None:
        self._model = self.plant.models[0]
        self._data = mujoco.MjData(self._model)
        self._cube, self._table = (self._model.geom(name).id for name in ("cube", "table"))

    def force(self) -> float:
        """N, the sum over all parts of the arm."""
        mujoco.mj_setState(self._model, self._data, self.plant.state[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        mujoco.mj_forward(self._model, self._data)
        total, wrench = np.zeros(3), np.zeros(6)
        for index, contact in enumerate(self._data.contact):
            if self._cube in contact.geom and self._table not in contact.geom:
                mujoco.mj_contactForce(self._model, self._data, index, wrench)
                sign = 1.0 if contact.geom[1] == self._cube else -1.0
                total += sign * contact.frame.reshape(3, 3).T @ wrench[:3]
        return float(np.linalg.norm(total))


def measure(mass: float, friction: float, episodes: int, seed: int) -> dict[str, float]:
    """Push `episodes` times, or until the arm is held."""
    constants = {"cube_mass": Drawn(Constant(mass)), "contact_friction": Drawn(Constant(friction))}
    domain, robot = Domain("contact", constants, {}, Simulator()), load_robot("panda")
    plant = MujocoArms(PUSH, 1, domain.simulator, threads=1)
    arm = StandIn(robot, PUSH, domain, plant, seed, command_timeout=0.5)
    contacts, collector = Contacts(plant), Collector(robot, PUSH, seed=seed)
    collector.enabled = True
    evaluation = collector.player.evaluate(Script(), episodes)
    forces: list[float] = []
    stops = 0
    while not evaluation.done and collector.phase is not CollectorPhase.HELD:
        measured, now, was = arm.measured, arm.time, collector.phase
        tick = collector.tick(ArmState(measured.position, measured.velocity, now), measured.cube, now)
        stops += was is CollectorPhase.RUNNING and collector.problem.startswith("stopped")
        if tick.command is not None:
            arm.command(tick.command.position)
        arm.advance(robot.period)
        forces.append(contacts.force())
    arm.close()
    return {**_summary(np.array(forces)), "stops": stops, "pushed": sum(each.success for each in evaluation.played)}


def _summary(forces: FloatArray) -> dict[str, float]:
    touching = forces[forces > TOUCHING]
    windows = np.lib.stride_tricks.sliding_window_view(forces, WINDOW).mean(axis=1)
    median = float(np.median(touching)) if len(touching) else 0.0
    return {"median_n": median, "half_second_n": float(windows.max()), "peak_n": float(forces.max())}


def main() -> None:
    """Measure every kind of cube."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.stdout.write("cube     kg   friction  median N  half a second N  peak N  stops  pushed\n")
    found = {}
    for name, (mass, friction) in CUBES.items():
        found[name] = each = measure(mass, friction, given.episodes, given.seed)
        sys.stdout.write(
            f"{name:7} {mass:5g} {friction:8g} {each['median_n']:10.1f} {each['half_second_n']:16.1f} "
            f"{each['peak_n']:7.1f} {each['stops']:6} {each['pushed']:4} of {given.episodes}\n"
        )
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
