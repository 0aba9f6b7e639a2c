"""A rehearsal keeps the run's budgets and can be repeated."""

from dataclasses import replace

import numpy as np
import pytest
from recordings import episode

from ompo_ros.control.collector import Collector
from ompo_ros.experiments.rehearse import AgentPolicy, ArmHeld, Rig, Sources, rehearse
from ompo_ros.experiments.settings import shipped_agent
from ompo_ros.learning import Config, make_agent
from ompo_ros.learning.pacing import Pacing
from ompo_ros.sim.belief import Belief
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin

SMALL = {"hidden_size": 16, "batch_size": 32, "local_capacity": 100, "global_capacity": 2000, "threads": 1}
PACING = Pacing(warmup=100, source_ratio=2.0, update_to_data=0.5, target_steps=150)


def play(algorithm, seed=3, believes=False):
    task, robot = Task("reach", "dense"), load_robot("panda")
    arm = make_stand_in("mujoco", "creeping", task, robot, seed=seed, command_timeout=0.5)
    rig = Rig(arm, Collector(robot, task, seed=seed))
    agent = make_agent(Config(algorithm=algorithm, **SMALL), 20, 7, seed, "cpu")
    belief = Belief(task, "randomized", seed) if believes else None
    sources = Sources(PandaVectorEnv(4, "reach", "dense", "randomized", threads=1), seed, belief)
    assert list(rehearse(rig, agent, sources, PACING)) == [50, 100, 150]
    return rig, agent


@pytest.mark.parametrize("algorithm", ["ompo", "sac"])
def test_source_and_updates_follow_the_targets_steps(algorithm):
    _, agent = play(algorithm)
    assert agent.experience.seen[Origin.TARGET] == 150
    assert 400 <= agent.experience.seen[Origin.SOURCE] < 400 + 64
    assert agent.updates == 75


def test_a_rehearsal_can_be_repeated_and_evaluated():
    (rig, agent), (_, again) = play("ompo", believes=True), play("ompo", believes=True)
    assert np.array_equal(agent.actor.flat.detach(), again.actor.flat.detach())
    success, value = rig.evaluate(agent, 2)
    assert 0.0 <= success <= 1.0
    assert value < 0.0
    assert rig.collector.player.target_steps == 150  # an evaluation is no exploration


def test_each_episode_that_is_played_is_one_of_a_drifting_arms():
    task, robot = Task("reach", "dense"), load_robot("panda")
    arm = make_stand_in("mujoco", "drifting", task, robot, seed=0, command_timeout=0.5)
    rig = Rig(arm, Collector(robot, task, seed=0))
    rig.collector.player.policy = AgentPolicy(shipped_agent(task, seed=0))
    episodes = rig.episodes()
    assert [(next(episodes).transitions is not None, arm.episode) for _ in range(20)] == [(True, n) for n in range(20)]


def test_a_recording_without_commands_is_left_out_of_the_belief_alone():
    belief = Belief(Task("reach", "dense"), "randomized", 0)
    env = PandaVectorEnv(4, "reach", "dense", "randomized", threads=1)
    shown = replace(episode(), origin=Origin.DEMONSTRATION)
    for sources, takes in ((Sources(env, 0, belief), False), (Sources(env, 0), True)):
        assert sources.recall(replace(shown, command=None)) is takes
        assert sources.recall(shown)
        assert sources.recall(episode(Origin.SOURCE))
    assert belief.target_steps == len(shown)


def test_demonstrations_inform_belief_and_learner_and_cost_no_steps_of_the_run():
    task, robot = Task("push", "dense"), load_robot("panda")
    arm = make_stand_in("mujoco", "nominal", task, robot, seed=0, command_timeout=0.5)
    rig = Rig(arm, Collector(robot, task, seed=0, scripted=1))
    agent = make_agent(Config(algorithm="sac", demonstration_share=0.5, **SMALL), 23, 7, 0, "cpu")
    belief, kept = Belief(task, "randomized", 0), []
    sources = Sources(PandaVectorEnv(4, "push", "dense", "randomized", threads=1), 0, belief)
    pacing = Pacing(warmup=100, source_ratio=1.0, update_to_data=0.1, target_steps=100)
    assert list(rehearse(rig, agent, sources, pacing, kept.append)) == [100]
    seen = agent.experience.seen
    assert (seen[Origin.DEMONSTRATION], seen[Origin.TARGET], agent.updates) == (100, 100, 10)
    assert belief.target_steps == 200
    assert [batch.origin for batch in kept if batch.origin is not Origin.SOURCE] == [
        Origin.DEMONSTRATION,
        Origin.TARGET,
    ]


def test_an_arm_that_nobody_can_move_ends_the_rehearsal_with_a_reason():
    task, robot = Task("reach", "dense"), load_robot("panda")
    arm = make_stand_in("mujoco", "creeping", task, robot, seed=0, command_timeout=0.5)
    rig = Rig(arm, Collector(robot, task, seed=0))
    agent = make_agent(Config(algorithm="sac", **SMALL), 20, 7, 0, "cpu")
    rig.collector.enabled = False
    with pytest.raises(ArmHeld, match="the arm is held"):
        rig.evaluate(agent, 1)
