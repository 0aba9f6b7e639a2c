"""An arm that answers its commands, however weakly, is left alone; one that does not is noticed in half a second."""

import numpy as np

from ompo_ros.control.following import Following
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

PERIOD = 0.04
REACH, PUSH = Task("reach", "dense"), Task("push", "dense")
WAVE = 0.1 * np.sin(np.arange(200)[:, None] * 0.2 + np.arange(7))


def first_doubt(references, measured):
    following = Following(REACH)
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
    following = Following(REACH)
    doubts = [following.doubt(tick * PERIOD, WAVE[tick], measured[tick]) for tick in range(40)]
    assert any("joint 5" in doubt for doubt in doubts)


def test_an_arm_told_to_stand_may_stand():
    still = np.zeros((200, 7))
    assert first_doubt(still, still) is None


def test_a_policy_pushes_by_as_much_as_it_leads_the_arm_farther_than_usual():
    still, lead = np.zeros(7), np.full(7, 0.05)
    following = Following(REACH)
    led = [following.doubt(tick * PERIOD, lead, still, by_policy=False, at_home=True) for tick in range(250)]
    assert not any(led)
    assert not any(following.doubt((250 + tick) * PERIOD, lead, still) for tick in range(40))
    more = lead + 0.06 * np.eye(7)[3]
    doubts = [following.doubt((290 + tick) * PERIOD, more, still) for tick in range(40)]
    assert "joint 4 pushes and nothing moves: blocked or stopped?" in doubts


def test_an_arm_that_was_held_up_on_its_way_home_may_rest_and_its_pushes_are_noticed():
    """A person's hand, say, that gave way slowly."""
    creep = np.outer(np.arange(250) * PERIOD * 0.03, np.eye(7)[3])
    following = Following(REACH)
    held_up = [
        following.doubt(n * PERIOD, at + 0.065 * np.eye(7)[3], at, by_policy=False) for n, at in enumerate(creep)
    ]
    assert not any(held_up)
    rests = [following.doubt((250 + tick) * PERIOD, creep[-1], creep[-1]) for tick in range(40)]
    assert not any(rests)
    pushed = creep[-1] + 0.05 * np.eye(7)[3]
    assert any(following.doubt((290 + tick) * PERIOD, pushed, creep[-1]) for tick in range(40))


def test_the_lead_that_a_policy_expects_to_rest_with_is_not_counted():
    still, lead = np.zeros(7), np.full(7, 0.048)
    following = Following(REACH)
    following.expect_lead(lead)
    assert not any(following.doubt(tick * PERIOD, lead, still) for tick in range(40))
    following.expect_lead(np.zeros(7))  # of the next policy
    doubts = [following.doubt((40 + tick) * PERIOD, lead, still) for tick in range(40)]
    assert not any(doubts[:10]), "what the one before sent was judged by what the next one expects"
    assert "pushes and nothing moves" in doubts[-1]


def test_ticks_after_a_stall_are_judged_by_themselves():
    following = Following(REACH)
    for tick in range(10):
        assert not following.doubt(tick * PERIOD, WAVE[tick], np.zeros(7))
    assert not following.doubt(5.0, WAVE[100], np.zeros(7))


def test_a_hand_that_presses_while_joints_give_way_is_noticed_in_push():
    home = load_robot("panda").home
    free = home + WAVE
    creep = free[-1] + np.linspace(0.0, 0.01, 40)[:, None]  # no joint stands still
    led = creep + np.array([0.06, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert np.linalg.norm(end_effector_position(led[0]) - end_effector_position(creep[0])) > 0.03
    for task, expected in ((PUSH, "what does it press against?"), (REACH, "")):
        following = Following(task)
        references, measured = np.concatenate((free, led)), np.concatenate((free, creep))
        pairs = zip(references, measured, strict=True)
        doubts = [following.doubt(tick * PERIOD, *pair) for tick, pair in enumerate(pairs)]
        assert not any(doubts[:200])
        assert any(expected in doubt and doubt for doubt in doubts) is bool(expected)
