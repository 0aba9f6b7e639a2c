"""Which transitions mini-batches are made of: all alike, by weights of R, or by shares of target and demonstrations."""

import numpy as np
import pytest
import torch

from ompo_ros.learning import Config
from ompo_ros.learning.buffers import Layout
from ompo_ros.learning.experience import Experience
from ompo_ros.learning.replay import WeightedDraw
from ompo_ros.parameters import InvalidParameter
from ompo_ros.transitions import Origin

CPU = torch.device("cpu")


def experience(**settings):
    sizes = {"global_capacity": 60, "local_capacity": 20, "initial_capacity": 30}
    return Experience(Config(**{**sizes, **settings}), Layout(5, 2), CPU)


def share_of_target(held, transitions):
    held.add(transitions(40, Origin.SOURCE, reward=np.full(40, 1.0, np.float32)))
    held.add(transitions(10, Origin.TARGET, reward=np.full(10, 2.0, np.float32)))
    rows = held.sample_into(torch.empty(10_000, 15), torch.Generator().manual_seed(0))
    return float((held.layout.reward(rows) == 2.0).float().mean())


@pytest.mark.parametrize(("share", "expected"), [(-1.0, 0.2), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_the_targets_share_of_a_mini_batch_can_be_set(transitions, share, expected):
    assert share_of_target(experience(target_share=share), transitions) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("share", "origin"), [(1.0, Origin.SOURCE), (0.5, Origin.SOURCE), (0.0, Origin.TARGET)])
def test_nothing_is_drawn_before_its_origin_is_there(transitions, share, origin):
    held = experience(target_share=share)
    held.add(transitions(10, origin))
    assert not held.can_sample
    held.add(transitions(10, Origin.TARGET if origin is Origin.SOURCE else Origin.SOURCE))
    assert held.can_sample


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [4 / 7, 1 / 7, 2 / 7]),
        ({"demonstration_share": 0.25}, [0.75 * 4 / 7, 0.75 * 1 / 7, 0.25 + 0.75 * 2 / 7]),
        ({"demonstration_share": 0.25, "target_share": 0.4}, [0.45, 0.3, 0.25]),
        ({"demonstration_share": 0.25, "target_share": 1.0}, [0.0, 0.75, 0.25]),
        ({"demonstration_share": 1.0}, [0.0, 0.0, 1.0]),
    ],
)
def test_the_demonstrations_share_comes_before_the_rule_of_the_others(transitions, settings, expected):
    held, counts = experience(global_capacity=100, **settings), (40, 10, 20)
    for origin, count in zip(Origin, counts, strict=True):
        held.add(transitions(count, origin, reward=np.full(count, float(origin), np.float32)))
    rows = held.sample_into(torch.empty(10_000, 15), torch.Generator().manual_seed(0))
    shares = [float((held.layout.reward(rows) == float(origin)).float().mean()) for origin in Origin]
    assert shares == pytest.approx(expected, abs=0.015)


def test_the_demonstrations_share_is_kept_beside_weights(transitions):
    held = experience(replay_temper=1.0, demonstration_share=0.5)
    held.add(transitions(20, Origin.DEMONSTRATION, reward=np.full(20, 2.0, np.float32)))
    held.add(transitions(20, Origin.SOURCE, reward=np.full(20, 1.0, np.float32)))
    held.layout.log_ratio(held.global_.used()["row"])[:20] = -3.0
    held.rated(slice(0, 40))
    rows = held.sample_into(torch.empty(10_000, 15), torch.Generator().manual_seed(0))
    weighted = 0.5 / (1.0 + np.exp(3.0))  # of the demonstrations among all rows
    assert float((held.layout.reward(rows) == 2.0).float().mean()) == pytest.approx(0.5 + weighted, abs=0.01)


def test_without_demonstrations_learning_goes_on_as_without_their_share(small_agent):
    plain, waiting = small_agent(), small_agent(demonstration_share=0.5)
    for agent in (plain, waiting):
        agent.update(5)
    assert torch.equal(plain.actor.flat, waiting.actor.flat)


def test_demonstrations_are_among_the_metrics(small_agent, transitions):
    agent = small_agent()
    agent.observe(transitions(30, Origin.DEMONSTRATION))
    assert agent.update(1)["demonstration_size"] == 30
    assert agent.paced_steps == 30  # the target's, as before


@pytest.mark.parametrize("temper", [0.5, 1.0])
def test_rows_are_drawn_in_proportion_to_their_tempered_ratio(transitions, temper):
    held, rng = experience(replay_temper=temper), torch.Generator().manual_seed(0)
    for seed in range(4):  # beyond the ring's end
        held.add(transitions(25, Origin.SOURCE, seed=seed, reward=np.arange(25, dtype=np.float32) + 25 * seed))
    ratio = torch.randn(60, generator=rng)
    while held.unrated:
        piece = held.first_unrated(13)
        held.layout.log_ratio(held.global_.columns["row"][piece]).copy_(ratio[piece])
        held.rated(piece)
    held.add(transitions(5, Origin.SOURCE, reward=np.arange(100, 105, dtype=np.float32)))  # R = 0 until rated
    rows = held.global_.used()["row"]
    expected = (temper * held.layout.log_ratio(rows)).exp()
    drawn = held.layout.reward(held.sample_into(torch.empty(200_000, 15), rng)).long()
    found = torch.bincount(drawn, minlength=105)[held.layout.reward(rows).long()] / len(drawn)
    torch.testing.assert_close(found, expected / expected.sum(), atol=2e-3, rtol=0.0)


def test_the_last_row_can_be_drawn_and_none_beyond():
    draw = WeightedDraw(10, 1.0, CPU)
    draw.update(0, torch.tensor([-3.0, -3.0, 3.0]), 3)
    drawn = draw.draw(5_000, 3, torch.Generator().manual_seed(0))
    assert set(drawn.tolist()) == {0, 1, 2}
    assert (drawn == 2).float().mean() > 0.99


def test_weights_and_what_is_left_of_d_g_are_among_the_metrics(small_agent):
    agent = small_agent(replay_temper=1.0, discriminator_lr=1e-2, discriminator_steps=60)
    metrics = agent.update(40)
    assert metrics["replay_weight_target"] > 1.0 > metrics["replay_weight_source"] > 0.0
    assert 0.0 < metrics["replay_ess"] < 1.0
    assert "replay_ess" not in small_agent().update(1)


@pytest.mark.parametrize("algorithm", ["ompo", "sac", "td3", "algaedice"])
def test_every_algorithm_on_all_data_can_be_weighted(small_agent, algorithm):
    agent = small_agent(algorithm=algorithm, replay_temper=0.5, discrepancy="none")
    assert agent.update(8)["R_held_out_loss"] > 0.0


def test_settings_that_exclude_each_other_are_refused():
    with pytest.raises(InvalidParameter, match="choose one"):
        Config(replay_temper=1.0, target_share=0.5)
    for settings in ({"replay_temper": 1.0}, {"target_share": 0.5}, {"demonstration_share": 0.5}):
        with pytest.raises(InvalidParameter, match="sources' rows only"):
            Config(algorithm="darc", **settings)
