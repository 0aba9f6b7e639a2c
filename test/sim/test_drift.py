import numpy as np
import pytest

from ompo_ros.sim.drift import Jumps, Noise, Ramp, Schedule, Sine
from ompo_ros.sim.paper.locomotion import SHIFTS

EPISODES = np.arange(60)
HALF = np.full(60, 0.5)
# (robot, shift, parameter): mean, amplitude and rate of the paper's sine over episodes, half width of its noise
PAPER = {
    ("Hopper", "NonStationary", "torso_length"): (0.4, 0.1, 0.2, 0.0),
    ("Hopper", "NonStationary", "foot_length"): (0.39, 0.1, 0.2, 0.0),
    ("Walker2d", "NonStationary", "torso_length"): (0.2, 0.1, 0.3, 0.0),
    ("Walker2d", "NonStationary", "foot_length"): (0.1, 0.05, 0.3, 0.0),
    ("Ant", "NonStationary", "gravity"): (14.715, 4.905, 0.5, 3.0),
    ("Ant", "NonStationary", "wind"): (1.0, 0.2, 0.5, 0.1),
    ("Humanoid", "NonStationary", "gravity"): (14.715, 4.905, 0.5, 3.0),
    ("Humanoid", "NonStationary", "wind"): (1.0, 0.5, 0.5, 0.1),
    ("Ant", "SevereNonStationary", "gravity"): (17.1675, 12.2625, 0.5, 3.0),
    ("Humanoid", "SevereNonStationary", "gravity"): (17.1675, 12.2625, 0.5, 3.0),
}


@pytest.mark.parametrize("key", PAPER, ids="-".join)
def test_the_papers_formulas(key):
    robot, shift, parameter = key
    mean, amplitude, rate, noise = PAPER[key]
    schedule = SHIFTS[robot][shift][parameter]
    middle = mean + amplitude * np.sin(rate * EPISODES)
    steps = np.zeros_like(EPISODES)
    np.testing.assert_allclose(schedule.values(EPISODES, steps, HALF), middle, atol=1e-12)
    np.testing.assert_allclose(schedule.values(EPISODES, steps, np.zeros(60)), middle - noise, atol=1e-12)
    np.testing.assert_allclose(schedule.values(EPISODES, steps, np.ones(60)), middle + noise, atol=1e-12)
    assert schedule.draws_each_step == (noise > 0)


@pytest.mark.parametrize(
    ("trend", "counts", "expected"),
    [
        (Ramp(1.0, 3.0, 10, 20), [0, 10, 15, 20, 99], [1.0, 1.0, 2.0, 3.0, 3.0]),
        (Jumps((5.0, 8.0), (1.0, 2.0, 3.0)), [0, 4, 5, 7, 8, 99], [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
    ],
)
def test_ramps_and_jumps(trend, counts, expected):
    np.testing.assert_allclose(trend.at(np.array(counts, dtype=float)), expected)


def test_a_drift_over_steps_ignores_the_episode():
    schedule = Schedule(Ramp(0.0, 1.0, 0, 10), "steps")
    assert schedule.moves_within_episode
    np.testing.assert_allclose(schedule.values(np.array([7, 9]), np.array([0, 5]), np.zeros(2)), [0.0, 0.5])


def test_the_support_holds_trend_and_noise():
    assert Schedule(Sine(1.0, -0.5, 1.0), "episodes", Noise(-0.1, 0.2, "steps")).support == pytest.approx((0.4, 1.7))


def test_an_unknown_clock_is_refused():
    with pytest.raises(ValueError, match="episodes or steps"):
        Schedule(Sine(0.0, 1.0, 1.0), "weeks")
