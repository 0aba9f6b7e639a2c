"""Wrong settings say what is allowed."""

import pytest

from ompo_ros.learning import Config
from ompo_ros.learning.config import AUTHORS
from ompo_ros.parameters import InvalidParameter, parameters_of


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("q", 1.0, r"\[1, 2\]"),
        ("q", 2.5, r"\[1, 2\]"),
        ("alpha", float("nan"), "not within"),
        ("alpha", 0.0, "not within"),
        ("discount", 1.2, r"\[0, 1\]"),
        ("batch_size", 0, "not within"),
        ("batch_size", 2.5, "int is needed"),
        ("normalize_obs", 1, "bool is needed"),
        ("discrepancy", "both", "paper, bound, none"),
        ("algorithm", "ppo", "ompo, sac, td3, algaedice, darc"),
        ("setting", "sim2real", "stationary, domain_adaptation, non_stationary"),
        ("log_std_min", 0, "float is needed|not below|not within"),
    ],
)
def test_wrong_value_says_what_is_allowed(name, value, allowed):
    with pytest.raises(InvalidParameter, match=allowed) as refused:
        Config(**{name: value, **({"log_std_max": -1.0} if name == "log_std_min" else {})})
    assert refused.value.name == name


def test_unknown_name_suggests_the_near_one():
    with pytest.raises(InvalidParameter, match="did you mean discrepancy_weight"):
        Config.from_dict({"discrepency_weight": 0.1})


def test_darc_needs_two_domains():
    with pytest.raises(InvalidParameter, match="domain_adaptation"):
        Config(algorithm="darc", setting="stationary")


def test_whole_numbers_serve_as_real_ones():
    assert Config(alpha=1).alpha == 1.0
    assert isinstance(Config(alpha=1).alpha, float)


def test_goes_through_a_dictionary_unchanged():
    config = Config(q=1.2, **AUTHORS)
    assert Config.from_dict(config.to_dict()) == config


def test_every_setting_is_explained():
    described = list(parameters_of(Config))
    assert len(described) == len(Config().to_dict())
    assert all(setting.description and setting.paper for setting in described)
