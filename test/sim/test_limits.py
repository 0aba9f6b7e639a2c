"""Sources under the limits of the target's safety filter."""

import numpy as np

from ompo_ros.control.safety import ArmState, SafetyFilter
from ompo_ros.sim.limits import CommandLimits
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import INCREMENT

ROBOT = load_robot("panda")
ONE = np.array([0])


def test_commands_are_those_of_the_safety_filter():
    """Away from joint limits and the workspace's border, step by step, for an arm that follows half of each step."""
    rng, position, now = np.random.default_rng(0), ROBOT.home.copy(), 0.0
    limits, safety = CommandLimits(ROBOT, 1), SafetyFilter(ROBOT)
    limits.reset(ONE)
    safety.filter(ArmState(position, np.zeros(7), now), position, now)
    for _ in range(40):
        now += ROBOT.period
        action = np.clip(rng.normal(0.0, 0.6, 7) + 4.0 * (ROBOT.home - position), -1.0, 1.0)
        command = safety.filter(ArmState(position, np.zeros(7), now), position + INCREMENT * action, now)
        let_through = limits.actions(action[None], position[None])[0]
        np.testing.assert_allclose(position + INCREMENT * let_through, command.position, atol=1e-4)
        position = position + 0.5 * (command.position - position)


def test_a_source_with_limits_starts_gently():
    def first_motion(limits):
        env = PandaVectorEnv(1, domain="nominal", threads=1, limits=limits)
        before, _ = env.reset(seed=0)
        after = env.step(np.ones((1, 7), np.float32))[0]
        return np.abs(after - before)[0, :7].max()

    assert first_motion(ROBOT) < 0.7 * first_motion(None)
