"""Pretraining of push: taught, interrupted, continued, and saved as networks that a learner can start from."""

import sys

import numpy as np
import pytest

from ompo_ros.experiments.pretrain import TEACHING, OtherRun, learner_config, main, train_push, trained
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


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """The checkpoints of a training of 40 updates that was interrupted after 20."""
    folder, save = tmp_path / "push.checkpoints", checkpoint.save

    def save_and_stop(*given, **options):
        save(*given, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", save_and_stop)
        with pytest.raises(KeyboardInterrupt):
            train_push(40, 0, folder, period=20)
    return folder


def names(folder):
    return [path.name for path in checkpoint.list_checkpoints(folder)]


def test_an_interrupted_training_continues_and_ends_in_networks_for_a_learner(tmp_path, interrupted):
    assert names(interrupted) == ["checkpoint-000001-20"]
    agent = train_push(40, 0, interrupted, period=20)
    assert names(interrupted) == ["checkpoint-000002-40"]
    save_networks(agent, tmp_path / "push.safetensors")
    loaded = trained("push", tmp_path / "push.safetensors")
    obs = np.ones((1, agent.obs_dim), np.float32)
    np.testing.assert_array_equal(loaded.act(obs, deterministic=True), agent.act(obs, deterministic=True))


@pytest.mark.parametrize("asked", [{"updates": 60, "seed": 0}, {"updates": 40, "seed": 1}])
def test_a_training_does_not_continue_one_that_was_asked_for_something_else(interrupted, asked):
    with pytest.raises(OtherRun, match=r"a run with --updates 40 --seed 0: give the same .*another --out, or remove"):
        train_push(folder=interrupted, **asked)
    assert names(interrupted) == ["checkpoint-000001-20"]


def test_a_training_does_not_continue_one_of_which_it_is_not_known_what_was_asked(interrupted):
    (interrupted / "asked.json").write_text("40")
    with pytest.raises(OtherRun, match="options that are not known"):
        train_push(40, 0, interrupted)


def test_the_command_says_why_it_does_not_continue(tmp_path, interrupted, monkeypatch):
    out = str(tmp_path / "push.safetensors")
    monkeypatch.setattr(sys, "argv", ["pretrain", "--task", "push", "--updates", "60", "--out", out])
    with pytest.raises(SystemExit, match=f"{interrupted} holds checkpoints of a run with --updates 40"):
        main()


def test_what_was_asked_binds_nobody_once_there_are_no_checkpoints(interrupted):
    for path in checkpoint.list_checkpoints(interrupted):
        path.rename(path.with_name("lost"))
    train_push(20, 0, interrupted, period=20)
    assert names(interrupted) == ["checkpoint-000001-20"]
