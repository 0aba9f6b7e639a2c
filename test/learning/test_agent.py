"""Learners from outside: repeatable, lazy in their metrics, clear about bad input, faithful in what they export."""

import logging
import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from ompo_ros.learning import ALGORITHMS, Config, EmptyBuffer, make_agent
from ompo_ros.transitions import InvalidData, Origin

OBS, ACT = 5, 2


def everything(agent):
    return torch.cat([p.detach().flatten() for module in agent.modules().values() for p in module.parameters()])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_seed_same_learner_bit_for_bit(small_agent, algorithm):
    first, second, other = (small_agent(seed, algorithm=algorithm) for seed in (3, 3, 4))
    before = everything(first)
    for agent in (first, second, other):
        agent.update(7)
    assert torch.equal(everything(first), everything(second))
    assert not torch.equal(everything(first), everything(other))
    assert not torch.equal(everything(first), before)
    assert torch.isfinite(everything(first)).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_neither_reading_metrics_nor_acting_changes_what_is_learned(small_agent, algorithm):
    quiet, watched = (small_agent(algorithm=algorithm) for _ in range(2))
    for _ in range(6):
        quiet.update(1)
        metrics = watched.update(1)
        assert all(math.isfinite(value) for value in metrics.values())
        watched.act(np.zeros(OBS, np.float32))
    assert torch.equal(everything(quiet), everything(watched))


def test_metrics_are_computed_when_read_and_stay(small_agent):
    agent = small_agent()
    metrics = agent.update(2)
    names = {"R_local", "R_global", "R_saturation", "ess", "critic_loss", "actor_loss", "q", "entropy", "temperature"}
    assert names | {"R_held_out_loss", "R_slope", "updates", "global_size"} <= set(metrics)
    loss = metrics["critic_loss"]
    agent.update(2)
    assert metrics["critic_loss"] == loss
    assert 1 / 8 <= metrics["ess"] <= 1


def test_a_round_trains_the_discriminator_once(small_agent, transitions):
    agent = small_agent(merge="round")
    discriminator = agent.rating.discriminator
    weights = discriminator.network.layers[0].weight
    before = weights.detach().clone()
    agent.update(1)
    assert not torch.equal(weights, before)
    assert not discriminator.trained  # a round is spread over several updates
    agent.update(2)
    assert discriminator.trained
    assert agent.experience.global_.size == 100 + 20  # the round has joined D_G
    after = weights.detach().clone()
    agent.update(3)
    assert torch.equal(weights, after)
    agent.observe(transitions(10, Origin.TARGET, seed=9))
    agent.update(1)
    assert not torch.equal(weights, after)


def test_every_stored_transition_carries_the_discriminators_latest_r(small_agent, transitions):
    agent = small_agent(global_capacity=140)

    def assert_rated():
        rows = agent.experience.global_.used()["row"]
        expected = agent.rating.discriminator.log_ratio(agent.layout.transition(rows))
        torch.testing.assert_close(agent.layout.log_ratio(rows), expected, atol=1e-6, rtol=1e-5)

    agent.update(4)
    assert_rated()
    agent.observe(transitions(5, Origin.TARGET, seed=9))  # no round yet
    agent.observe(transitions(30, Origin.SOURCE, seed=10))  # around the ring's end
    agent.update(2)
    assert_rated()
    agent.observe(transitions(20, Origin.TARGET, seed=11))  # a round
    agent.update(5)
    assert_rated()
    assert agent.layout.log_ratio(agent.experience.global_.used()["row"]).abs().min() > 0


def test_local_buffer_larger_than_all_data_means_no_r(small_agent):
    agent = small_agent(local_capacity=1_000)
    metrics = agent.update(4)
    assert (metrics["R_global"], metrics["R_local"], metrics["R_saturation"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("merge", ["round", "immediate"])
def test_first_round_without_history_has_nothing_to_compare_with(small_agent, transitions, merge):
    agent = small_agent(fill=False, setting="stationary", merge=merge)
    agent.observe(transitions(20, Origin.TARGET))
    assert agent.ready
    agent.update(4)
    assert not agent.rating.discriminator.trained
    assert agent.experience.global_.size == 20
    agent.observe(transitions(20, Origin.TARGET, seed=1))
    agent.update(4)
    assert agent.rating.discriminator.trained


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_update_without_data_says_what_is_missing(small_agent, algorithm):
    agent = small_agent(algorithm=algorithm, fill=False)
    assert not agent.ready
    with pytest.raises(EmptyBuffer, match="D_G is empty: observe transitions first"):
        agent.update(1)


def test_missing_initial_states_are_named(small_agent, transitions):
    agent = small_agent(fill=False)
    agent.observe(transitions(10, step=np.arange(1, 11, dtype=np.uint32)))
    assert not agent.ready
    with pytest.raises(EmptyBuffer, match="D_0 is empty: no transition with step 0"):
        agent.update(1)


def test_one_transition_is_enough_to_learn_from(small_agent, transitions):
    agent = small_agent(fill=False)
    agent.observe(transitions(1, terminated=np.array([True])))
    assert math.isfinite(agent.update(3)["critic_loss"])


def test_refused_batch_leaves_the_learner_as_it_was(small_agent, transitions):
    agent = small_agent(normalize_obs=True)
    size, mean = agent.experience.global_.size, agent.normalizer.mean.clone()
    with pytest.raises(InvalidData, match="action"):
        agent.observe(transitions(3, action=np.full((3, ACT), 2.0, np.float32)))
    assert agent.experience.global_.size == size
    assert torch.equal(agent.normalizer.mean, mean)


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 2, 5)])
def test_act_refuses_wrong_shapes(small_agent, shape):
    with pytest.raises(InvalidData, match="obs"):
        small_agent().act(np.zeros(shape, np.float32))


def test_act_refuses_what_is_not_finite(small_agent):
    with pytest.raises(InvalidData, match="not finite"):
        small_agent().act(np.full(OBS, np.nan, np.float32))


def test_act_explores_unless_told_not_to(small_agent):
    agent, obs = small_agent(), np.zeros((4, OBS), np.float32)
    assert agent.act(obs).shape == (4, ACT)
    assert agent.act(obs[0]).shape == (ACT,)
    assert not np.array_equal(agent.act(obs), agent.act(obs))
    np.testing.assert_array_equal(agent.act(obs, deterministic=True), agent.act(obs, deterministic=True))
    assert np.abs(agent.act(obs)).max() <= 1


def deployed(tensors, obs):
    """Compute the policy as the docstring of `actor_tensors` tells others to compute it."""
    t = tensors
    x = np.clip((obs - t["obs_mean"]) * t["obs_scale"], -t["obs_clip"], t["obs_clip"])
    x = x @ t["weight_0"] + t["bias_0"]
    if "gain" in t:
        normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        x = np.tanh(normal * t["gain"] + t["offset"])
    else:
        x = np.where(x > 0, x, np.expm1(x))
    x = x @ t["weight_1"] + t["bias_1"]
    y = np.where(x > 0, x, np.expm1(x)) @ t["weight_2"] + t["bias_2"]
    mean, log_std = np.split(y, 2, axis=-1)
    action = np.clip((np.tanh(mean) - t["action_bias"]) / t["action_gain"], -1, 1)
    return action, np.clip(log_std, t["log_std_min"], t["log_std_max"])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("first_layer", ["elu", "layernorm_tanh"])
@pytest.mark.parametrize("normalize", [False, True])
def test_exported_tensors_act_as_the_learner_does(small_agent, algorithm, first_layer, normalize):
    agent = small_agent(algorithm=algorithm, first_layer=first_layer, normalize_obs=normalize)
    agent.compensate(np.linspace(0.6, 1.4, agent.act_dim), np.linspace(-0.8, 0.5, agent.act_dim))
    agent.update(4)
    tensors = agent.actor_tensors()
    assert all(values.dtype == np.float32 and np.isfinite(values).all() for values in tensors.values())
    obs = (3 * np.random.default_rng(0).standard_normal((50, OBS))).astype(np.float32)
    action, log_std = deployed(tensors, obs)
    np.testing.assert_allclose(action, agent.act(obs, deterministic=True), atol=1e-5)
    if algorithm == "td3":
        np.testing.assert_allclose(log_std, math.log(0.2), atol=1e-6)
    kept = tensors["weight_1"].copy()
    agent.update(agent.config.actor_period)
    np.testing.assert_array_equal(tensors["weight_1"], kept)


def test_the_learned_actor_explores_and_its_running_average_is_deployed(small_agent):
    agent = small_agent(algorithm="sac", actor_period=1, actor_average_tau=0.25, log_std_max=-4.9, log_std_min=-5.0)
    expected = agent.actor.flat.detach().clone()
    for _ in range(5):
        agent.update(1)
        expected.lerp_(agent.actor.flat.detach(), 0.25)
    torch.testing.assert_close(agent.average_actor.flat, expected)
    obs = np.ones((1, OBS), np.float32)
    learned, average = (deployed(agent.actor_tensors(average), obs)[0] for average in (False, True))
    assert not np.allclose(learned, average, atol=1e-4)
    np.testing.assert_allclose(agent.act(obs, deterministic=True), average, atol=1e-5)
    explored = np.mean([agent.act(obs) for _ in range(400)], axis=0)
    assert np.abs(explored - learned).max() < np.abs(explored - average).max()


def test_normalizer_centres_what_it_saw_and_leaves_constants_alone(small_agent, transitions):
    agent = small_agent(fill=False, normalize_obs=True)
    rng = np.random.default_rng(0)
    parts = [(5 + 3 * rng.standard_normal((n, OBS))).astype(np.float32) for n in (1, 40, 200)]
    for part in parts:
        part[:, 0] = 7.0
        agent.observe(transitions(len(part), obs=part))
    seen = np.concatenate(parts)
    np.testing.assert_allclose(agent.normalizer.mean, seen.mean(0), rtol=1e-5)
    np.testing.assert_allclose(1 / agent.normalizer.scale[1:], seen.std(0)[1:], rtol=1e-5)
    assert agent.normalizer.scale[0] == 1
    rows = agent.normalizer.obs_(torch.from_numpy(seen.copy()))
    assert rows.mean(0).abs().max() < 1e-4
    assert (rows[:, 1:].std(0) - 1).abs().max() < 0.01


def test_log_reward_is_of_the_tasks_positive_map(small_agent):
    agent = small_agent(reward="log", reward_scale=0.5, reward_shift=1.0, reward_floor=0.01)
    mapped = agent.reward(torch.tensor([-1.0, 0.0, -5.0]))
    np.testing.assert_allclose(mapped, np.log([0.5, 1.0, 0.01]), rtol=1e-6)


def test_log_of_rewards_that_all_lie_below_the_floor_is_warned_of_once(small_agent, transitions, caplog):
    agent = small_agent(fill=False, reward="log")
    negative = np.linspace(-2.0, -1.0, 10, dtype=np.float32)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            agent.observe(transitions(10, reward=negative))
    assert len(caplog.records) == 1
    assert "set reward_shift above 2" in caplog.text
    caplog.clear()
    small_agent(reward="log", reward_shift=2.5).observe(transitions(10, reward=negative))
    assert not caplog.records


def test_rewards_can_be_scaled_to_unit_deviation(small_agent, transitions):
    agent = small_agent(fill=False, normalize_reward=True)
    reward = (100 * np.random.default_rng(0).random(500)).astype(np.float32)
    agent.observe(transitions(500, reward=reward))
    assert abs(float(agent.reward(torch.from_numpy(reward)).std()) - 1) < 0.01


def test_compiler_that_fails_is_reported_and_done_without(small_agent, monkeypatch, caplog):
    def failing(function, **_):
        raise RuntimeError("no C++ compiler\nand a long trace")

    plain = small_agent()
    monkeypatch.setattr(torch, "compile", failing)
    with caplog.at_level(logging.WARNING):
        agent = small_agent(compile=True)
    assert "running eagerly: no C++ compiler" in caplog.text
    plain.update(3)
    agent.update(3)
    assert torch.equal(everything(plain), everything(agent))


def test_unknown_device_and_impossible_sizes_are_refused():
    with pytest.raises(ValueError, match="device: 'tpu' is not available"):
        make_agent(Config(), 3, 1, device="tpu")
    with pytest.raises(ValueError, match="obs_dim: 0"):
        make_agent(Config(), 0, 1)
    with pytest.raises(ValueError, match="n: 0 updates"):
        make_agent(Config(global_capacity=10), 3, 1).update(0)


@pytest.mark.parametrize(
    ("module", "absent"), [("ompo_ros", "torch"), ("ompo_ros.learning", "rclpy"), ("ompo_ros.learning", "mujoco")]
)
def test_imports_without_what_it_does_not_need(module, absent):
    code = f"import sys; sys.modules[{absent!r}] = None; import {module}"
    subprocess.run([sys.executable, "-c", code], check=True)
