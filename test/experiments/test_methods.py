"""Methods differ in what is theirs, and in nothing else."""

import dataclasses

import pytest

from ompo_ros.experiments.methods import DRIFTING, METHODS, PARTS, Protocol
from ompo_ros.experiments.settings import node_settings

OWN = {
    "algorithm",  # the update rule
    "discrepancy",  # OMPO's use of R
    "replay_temper",  # which rows of D_G are drawn
    "target_share",
    "compensate",  # what a belief is used for
}
ADAPTING = [name for name, method in METHODS.items() if method.adapts]


@pytest.mark.parametrize("name", ADAPTING)
def test_a_method_has_only_its_own_settings(name):
    reference, config = METHODS["sac"].config().to_dict(), METHODS[name].config().to_dict()
    assert {setting for setting in config if config[setting] != reference[setting]} <= OWN
    assert set(METHODS[name].own) <= OWN


def test_for_an_arm_that_changes_only_what_a_method_learns_from_differs_too():
    reference = METHODS["sac"].config().to_dict()
    pacing = Protocol(update_to_data=2.0, source_ratio=10.0, warmup=500).pacing
    for method in DRIFTING.values():
        config = method.config().to_dict()
        assert {setting for setting in config if config[setting] != reference[setting]} <= {*OWN, "setting"}
        assert method.sources == method.belief
        if method.adapts:
            assert config["setting"] == ("domain_adaptation" if method.belief else "non_stationary")
        if method.learns:
            without = dataclasses.replace(pacing, warmup=0, source_ratio=0.0)
            assert method.paced(pacing) == (pacing if method.sources else without)


@pytest.mark.parametrize("name", ADAPTING)
def test_every_method_for_a_fixed_arm_has_the_same_sources(name):
    assert METHODS[name].sources


def test_what_is_not_a_methods_own_is_an_adaptation_runs():
    settings, config = node_settings("learner")["learning"], METHODS["ompo_belief_weighted"].config().to_dict()
    for name, value in settings.items():
        assert name in OWN or config[name] == value


def test_all_learn_with_one_actor_period_average_and_networks():
    agreed = ("actor_period", "actor_average_tau", "hidden_size", "first_layer", "actor_lr", "critic_lr", "target_tau")
    for setting in agreed:
        assert len({METHODS[name].config().to_dict()[setting] for name in ADAPTING}) == 1


def test_reported_points_have_all_episodes_and_are_among_the_evaluated():
    protocol = Protocol(update_to_data=10.0, source_ratio=30.0, warmup=500)
    assert set(protocol.reported) <= set(protocol.points)
    assert {protocol.episodes_at(point) for point in (0, *protocol.reported)} == {protocol.episodes}
    assert protocol.episodes_at(150) == protocol.fewer_episodes
    assert (protocol.pacing.source_budget(100, 10**6), protocol.pacing.target_steps) == (3500, 1000)


def test_every_part_is_the_difference_of_two_methods():
    for method, without in PARTS.values():
        assert {method, without} <= set(METHODS)
        assert method != without
