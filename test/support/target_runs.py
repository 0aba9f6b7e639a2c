"""Target transitions as a run makes them: stand-in, collector, safety filter and a policy that explores."""

import numpy as np

from ompo_ros.control.collector import Collector
from ompo_ros.control.safety import ArmState
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

ROBOT = load_robot("panda")
TASK = Task("reach", "dense")


class Wanderer:
    """Pulls towards home and explores around it, as a policy in training does."""

    version, sha256 = 1, ""

    def act(self, obs):
        return np.clip(4.0 * (ROBOT.home - obs[:7]), -1.0, 1.0).astype(np.float32)

    def sample(self, obs, rng):
        return np.clip(self.act(obs) + 0.5 * rng.standard_normal(7), -1.0, 1.0).astype(np.float32)


def play(domain, steps, simulator="mujoco", seed=0):
    """Whole episodes (a list of Transitions) of at least so many steps."""
    arm = make_stand_in(simulator, str(domain), TASK, ROBOT, seed=seed, command_timeout=0.5)
    collector = Collector(ROBOT, TASK, seed=seed)
    collector.enabled, collector.player.policy = True, Wanderer()
    episodes = []
    for _ in range(20 * steps + 2000):  # homing takes ticks too, but never so many
        if sum(map(len, episodes)) >= steps:
            arm.close()
            return episodes
        measured, now = arm.measured, arm.time
        tick = collector.tick(ArmState(measured.position, measured.velocity, now), measured.cube, now)
        if tick.command is not None:
            arm.command(tick.command.position)
        arm.advance(ROBOT.period)
        if tick.finished is not None and tick.finished.transitions is not None:
            episodes.append(tick.finished.transitions)
    raise AssertionError(f"{sum(map(len, episodes))} of {steps} steps were played: {collector.problem}")
