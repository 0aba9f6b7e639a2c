"""Pretraining of push: taught, interrupted, continued, and saved as networks that a learner can start from."""

import numpy as np
import pytest

from ompo_ros.experiments.pretrain import TEACHING, learner_config, train_push, trained
from ompo_ros.experiments.teaching import Taught, half_taught, without_normalizer
from ompo_ros.learning import checkpoint
from ompo_ros.learning.pretrained import save_networks
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.teacher import push_actions


@pytest.fixture
def env():
    return PandaVectorEnv(4, "push", "dense", "randomized", threads=1)


def taught(env, lessons):
    config = learner_config(**TEACHING)
    return Taught(config, env.contract.observation_size, env.contract.action_size, 0, push_actions, lessons)


def test_lessons_bring_the_actor_to_its_teacher_and_later_updates_leave_it_there(env):
    agent = taught(env, lessons=150)
    agent.observe(Collection(env, 0).run(push_actions, 100, policy_version=0)[0])
    first = agent.update(1)["imitation_error"]
    assert agent.update(149)["imitation_error"] < 0.6 * first
    actor, critic = agent.actor.flat.clone(), agent.critic.flat.clone()
    agent.update(2)
    assert (agent.actor.flat == actor).all()
    assert (agent.critic.flat != critic).any()


def test_the_teacher_moves_half_of_the_arms(env):
    agent = taught(env, lessons=1)
    obs, _ = env.reset(seed=0)
    actions = half_taught(agent, push_actions)(obs)
    np.testing.assert_array_equal(actions[:2], push_actions(obs[:2]))
    assert (actions[2:] != push_actions(obs[2:])).any()


def test_networks_without_the_normalizer_act_and_rate_alike(env):
    agent = taught(env, lessons=20)
    seen = Collection(env, 0).run(push_actions, 20, policy_version=0)[0]
    agent.observe(seen)
    agent.update(40)
    plain = without_normalizer(agent, learner_config())
    acted = agent.act(seen.obs, deterministic=True)
    np.testing.assert_allclose(plain.act(seen.obs, deterministic=True), acted, atol=1e-4)
    np.testing.assert_allclose(rated(plain, seen), rated(agent, seen), atol=1e-3)


def rated(agent, transitions):
    agent.recall(transitions)  # as rows of a buffer, normalized as for an update
    rows = agent.experience.global_.columns["row"][:20].clone()
    agent.normalizer.transition_(agent.layout.transition(rows))
    return agent.critic(agent.layout.obs_action(rows)).detach().numpy()


def test_an_interrupted_training_continues_and_ends_in_networks_for_a_learner(tmp_path):
    train_push(20, 0, tmp_path / "checkpoints", period=20)
    agent = train_push(40, 0, tmp_path / "checkpoints", period=20)
    assert [path.name for path in checkpoint.list_checkpoints(tmp_path / "checkpoints")] == ["checkpoint-000002-40"]
    save_networks(agent, tmp_path / "push.safetensors")
    loaded = trained("push", tmp_path / "push.safetensors")
    obs = np.ones((1, agent.obs_dim), np.float32)
    np.testing.assert_array_equal(loaded.act(obs, deterministic=True), agent.act(obs, deterministic=True))
