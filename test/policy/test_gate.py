"""The gate's tests against brute force, and its decisions where the answer is clear."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from example_policies import REACH, make, make_tensors

from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy
from ompo_ros.policy.gate import (
    GateSettings,
    drop_significance,
    judge_behaviour,
    judge_stable,
    judge_success,
    probability_at_least,
    probability_not_worse,
)
from ompo_ros.policy.manifest import Training
from ompo_ros.task.acting import Evaluation

SETTINGS = GateSettings()


def evaluation(successes: int, episodes: int) -> Evaluation:
    return Evaluation(episodes, successes, 0.0)


def test_probability_at_least_is_the_share_of_posterior_draws():
    for k, n in ((0, 1), (3, 10), (47, 50)):
        draws = np.random.default_rng(0).beta(k + 1, n - k + 1, 400_000)
        for rate in (0.0, 0.3, 0.95, 1.0):
            found = probability_at_least(evaluation(k, n), rate)
            assert found == pytest.approx(np.mean(draws >= rate), abs=3e-3), (k, n, rate)


def test_probability_not_worse_is_the_share_of_posterior_draws():
    rng = np.random.default_rng(1)
    for candidate, stable in (((18, 20), (18, 20)), ((0, 20), (20, 20)), ((3, 5), (40, 50))):
        draws = [rng.beta(k + 1, n - k + 1, 400_000) for k, n in (candidate, stable)]
        for margin in (0.0, 0.1, 1.0):
            found = probability_not_worse(evaluation(*candidate), evaluation(*stable), margin)
            share = np.mean(draws[0] >= draws[1] - margin)
            assert found == pytest.approx(share, abs=3e-3), (candidate, stable, margin)


@pytest.mark.parametrize("episodes", [1_029, 100_000, 1_000_000])
def test_evaluations_of_any_length_are_judged(episodes):
    perfect, half = evaluation(episodes, episodes), evaluation(episodes // 2, episodes)
    assert probability_at_least(perfect, 0.99) == pytest.approx(1.0, abs=1e-4)
    assert probability_at_least(half, 0.5) == pytest.approx(0.5, abs=2e-2)
    assert probability_not_worse(perfect, perfect, 0.0) == pytest.approx(0.5, abs=1e-2)
    assert probability_not_worse(perfect, half, 0.0) == pytest.approx(1.0)
    assert probability_not_worse(half, perfect, 0.1) == pytest.approx(0.0)


def test_equal_evidence_is_a_coin_toss_without_a_margin():
    assert probability_not_worse(evaluation(7, 20), evaluation(7, 20), 0.0) == pytest.approx(0.5, abs=1e-4)


def test_drop_significance_counts_all_ways_of_dealing_the_successes():
    for now, before in itertools.product([(0, 3), (2, 4), (4, 4)], [(0, 5), (3, 5), (5, 5)]):
        outcomes = [1] * (now[0] + before[0]) + [0] * (now[1] + before[1] - now[0] - before[0])
        deals = list(itertools.combinations(outcomes, now[1]))
        share = sum(sum(deal) <= now[0] for deal in deals) / len(deals)
        assert drop_significance(evaluation(*now), evaluation(*before)) == pytest.approx(share, abs=1e-12)


def test_an_unchanged_policy_is_rarely_called_fallen():
    """The rate of false alarms at one look stays below alpha, for every success rate."""
    for rate in (0.3, 0.7, 0.9, 0.97):
        chance = sum(
            math.comb(20, a) * math.comb(20, b) * rate ** (a + b) * (1 - rate) ** (40 - a - b)
            for a, b in itertools.product(range(21), range(21))
            if not judge_stable(evaluation(a, 20), evaluation(b, 20), SETTINGS).passed
        )
        assert chance < SETTINGS.alpha


@pytest.mark.parametrize(
    ("candidate", "stable", "passed"),
    [
        ((20, 20), (20, 20), True),
        ((20, 20), (10, 20), True),
        ((18, 20), (18, 20), True),
        ((15, 20), (19, 20), False),
        ((0, 20), (20, 20), False),
        ((2, 2), (20, 20), False),  # too few to tell
        ((20, 20), None, True),
        ((0, 20), None, False),
        ((1, 1), None, False),
    ],
)
def test_success_is_judged_by_evidence(candidate, stable, passed):
    verdict = judge_success(evaluation(*candidate), evaluation(*stable) if stable else None, SETTINGS)
    assert verdict.passed is passed
    assert f"{candidate[0]}/{candidate[1]} episodes succeed" in verdict.reason


@pytest.mark.parametrize(
    ("running", "proven", "passed"),
    [((0, 4), (20, 20), False), ((0, 3), (20, 20), True), ((17, 20), (20, 20), True), ((5, 20), (19, 20), False)],
)
def test_stable_falls_only_for_a_significant_drop(running, proven, passed):
    assert judge_stable(evaluation(*running), evaluation(*proven), SETTINGS).passed is passed


def recorded() -> tuple[np.ndarray, np.ndarray]:
    """An arm that holds still, seen by noisy sensors."""
    rng = np.random.default_rng(0)
    obs, next_obs = rng.normal(scale=0.02, size=(2, 100, 20)).astype(np.float32)
    return obs, next_obs


def test_a_policy_as_smooth_as_stable_passes():
    assert judge_behaviour(make(1), make(2), *recorded(), SETTINGS).passed


@pytest.mark.parametrize("stable", [None, make(2)])
def test_a_policy_that_shakes_the_arm_is_refused(stable):
    tensors = make_tensors(seed=1)
    tensors |= {"obs_scale": tensors["obs_scale"] * np.float32(100.0), "obs_mean": np.zeros(20, np.float32)}
    shaking = make_policy(Actor(tensors), REACH, version=9, stamp=0.0, training=Training(0, 0))
    verdict = judge_behaviour(shaking, stable, *recorded(), SETTINGS)
    assert not verdict.passed
    assert "actions change by" in verdict.reason


def test_an_action_beyond_the_contract_is_refused():
    narrow = make(1, contract=dataclasses.replace(REACH, action_limit=0.01))
    verdict = judge_behaviour(narrow, None, *recorded(), SETTINGS)
    assert not verdict.passed
    assert "0.01 is allowed" in verdict.reason
