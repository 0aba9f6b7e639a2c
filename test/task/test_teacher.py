"""The scripted push gets cubes to their goals, and its action depends on the observation alone."""

import numpy as np

from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.robot import load_robot
from ompo_ros.task.teacher import push_actions


def test_the_teacher_pushes_cubes_to_their_goals_within_the_arms_limits():
    env = PandaVectorEnv(40, "push", "dense", "nominal", limits=load_robot("panda"))
    obs, info = env.reset(seed=3)
    for _ in range(env.contract.episode_steps):
        obs, _, _, _, info = env.step(push_actions(obs))
    assert info["is_success"].mean() > 0.9


def test_the_teacher_rests_once_the_cube_is_at_its_goal():
    env = PandaVectorEnv(5, "push", "dense", "nominal")
    obs, _ = env.reset(seed=0)
    there = obs.copy()
    there[:, env.contract.slice_of("goal")] = obs[:, env.contract.slice_of("cube_position")]
    assert (push_actions(there) == 0.0).all()
    assert np.abs(push_actions(obs)).max() == 1.0


def test_a_row_gets_the_same_action_alone_and_among_others():
    env = PandaVectorEnv(8, "push", "dense", "randomized")
    obs, _ = env.reset(seed=0)
    together = push_actions(obs)
    for row in range(8):
        np.testing.assert_allclose(push_actions(obs[row : row + 1])[0], together[row], atol=1e-6)
