"""Whether a run worked: by intervals that textbooks give, in a sentence for each case."""

import pytest

from ompo_ros.reporting.record import RecordedEvaluation
from ompo_ros.reporting.verdict import gain, verdict, wilson


def played(successes: int, episodes: int) -> RecordedEvaluation:
    return RecordedEvaluation(1, successes, episodes, -2.0)


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_of_a_rate_is_that_of_newcombes_first_paper_of_1998(successes, episodes, low, high):
    assert wilson(successes, episodes) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("after", "before", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((5, 56), (0, 29), -0.0381, 0.1926)],
)
def test_the_interval_of_a_difference_is_that_of_newcombes_second_paper_of_1998(after, before, low, high):
    assert gain(played(*before), played(*after)) == pytest.approx((low, high), abs=1e-4)


def test_a_rise_a_fall_and_a_doubt_are_said_with_their_figures():
    rose = verdict(played(2, 10), played(38, 40))
    assert rose.startswith("Adaptation worked: success rose by 75 points, from 20% of 10 episodes (95% interval 6% to")
    assert "the change lies between +42 and +90 points." in rose
    assert verdict(played(38, 40), played(2, 10)).startswith("Adaptation did harm: success fell by 75 points")
    doubt = verdict(played(9, 10), played(38, 40))
    assert doubt.startswith("No change is proven: success changed by +5 points")
    assert doubt.endswith("More evaluated episodes (episodes_before, episodes_after) narrow it.")


def test_what_was_not_evaluated_is_named():
    assert verdict(None, None).endswith("nothing was evaluated before and after the run.")
    assert verdict(played(1, 2), None).endswith("nothing was evaluated after the run.")
