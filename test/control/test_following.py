"""An arm that answers its commands, however weakly, is left alone; one that does not is noticed in half a second."""

import numpy as np

from ompo_ros.control.following import Following

PERIOD = 0.04
WAVE = 0.1 * np.sin(np.arange(200)[:, None] * 0.2 + np.arange(7))


def first_doubt(references, measured):
    following = Following()
    for tick, (reference, position) in enumerate(zip(references, measured, strict=True)):
        if following.doubt(tick * PERIOD, reference, position):
            return tick
    return None


def test_a_weak_late_and_noisy_arm_follows():
    noise = np.random.default_rng(0).normal(0.0, 1e-4, WAVE.shape)
    assert first_doubt(WAVE, 0.2 * np.roll(WAVE, 2, axis=0) + noise) is None


def test_an_arm_frozen_at_any_moment_is_noticed_within_half_a_second():
    for stop in (0, 50, 90):
        measured = np.concatenate((WAVE[:stop], np.repeat(WAVE[stop : stop + 1], 200 - stop, axis=0)))
        assert first_doubt(WAVE, measured) is not None
        assert first_doubt(WAVE, measured) <= stop + 2 * round(0.5 / PERIOD)


def test_one_blocked_joint_is_named():
    measured = WAVE.copy()
    measured[:, 4] = 0.3
    following = Following()
    doubts = [following.doubt(tick * PERIOD, WAVE[tick], measured[tick]) for tick in range(40)]
    assert any("joint 5" in doubt for doubt in doubts)


def test_an_arm_told_to_stand_may_stand():
    still = np.zeros((200, 7))
    assert first_doubt(still, still) is None


def test_ticks_after_a_stall_are_judged_by_themselves():
    following = Following()
    for tick in range(10):
        assert not following.doubt(tick * PERIOD, WAVE[tick], np.zeros(7))
    assert not following.doubt(5.0, WAVE[100], np.zeros(7))
