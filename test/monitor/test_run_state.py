"""What the page makes of what it hears."""

import math

import numpy as np
import pytest

from ompo_ros.monitor.history import History
from ompo_ros.monitor.page import steps_line
from ompo_ros.monitor.run_state import FINISHED, PAUSED, TRAINING, Learner, RunState


def status(steps=0, state=TRAINING):
    return Learner(state, steps, 10 * steps, 50.0, 3, 0.5, 1.5)


@pytest.fixture
def run():
    return RunState(target_steps=500)


def test_the_stage_follows_arm_and_learner(run):
    assert run.stage() == "waiting for the arm's node"
    run.hear_arm("homing", "", {}, 1.0)
    assert run.stage() == "homing"
    run.hear_learner(status(10), 1.0)
    assert run.stage() == "training; arm: homing"
    run.hear_episode(True, -1.0, True, 2.0)
    run.hear_arm("playing an episode", "", {}, 2.0)
    assert run.stage() == "evaluating a policy"
    run.hear_learner(status(10, PAUSED), 3.0)
    assert run.stage() == "learning is paused"
    run.hear_episode(True, -1.0, False, 4.0)
    run.hear_learner(status(500, FINISHED), 4.0)
    assert run.stage() == "evaluating the result"
    run.over = True
    assert run.stage() == "the run is over"


def test_time_left_follows_the_last_minutes_pace(run):
    run.hear_learner(status(0), 0.0)
    assert run.time_left() is None
    for second in range(1, 201):
        run.hear_learner(status(second), float(second))
    assert run.time_left() == pytest.approx(300.0)
    assert run.progress() == pytest.approx(0.4)
    assert steps_line(run) == "200 of 500 target steps · about 5 min left"
    for second in range(201, 281):
        run.hear_learner(status(200), float(second))
    assert run.time_left() is None, "a run that stands has no end in sight"


def test_an_endless_run_has_no_progress():
    run = RunState()
    for second in range(3):
        run.hear_learner(status(second), float(second))
    assert (run.progress(), run.time_left()) == (0.0, None)
    assert steps_line(run) == "2 target steps"


def test_silence_is_reported_by_who_is_silent(run):
    assert run.lost(0.0) == "the robot and its node are silent so far"
    run.hear_joint_state(10.0)
    run.hear_arm("homing", "", {}, 10.0)
    assert run.lost(11.0) == ""
    assert run.lost(13.0) == "no joint states for 3 s"
    run.hear_joint_state(20.0)
    assert run.lost(20.0) == "the node that moves the arm is silent for 10 s"


def test_a_silent_learner_is_a_concern_only_where_there_was_one(run):
    assert run.concern(1000.0) == ""
    run.hear_learner(status(), 0.0)
    assert run.concern(9.0) == "the learner is silent for 9 s"
    run.hear_arm("waiting", "no joint state for 0.2 s", {}, 9.0)
    run.hear_learner(status(), 9.0)
    assert run.concern(9.0) == "no joint state for 0.2 s"


def test_shares_are_of_what_happened_since_the_last_report(run):
    first = {"ticks": "100", "late_ticks": "50", "filter_calls": "100", "filtered: workspace": "90", "goal": "1 2"}
    run.hear_arm("x", "", first, 1.0)
    second = {"ticks": "200", "late_ticks": "60", "filter_calls": "150", "filtered: workspace": "100"}
    run.hear_arm("x", "", second, 2.0)
    assert run.late.columns[1].tolist() == [10.0]
    assert run.filtered["workspace"].columns[1].tolist() == [20.0]
    run.hear_arm("x", "", first, 3.0)  # its node was started anew
    assert run.late.columns[1].tolist() == [10.0]


def test_success_is_of_the_last_ten_and_evaluations_stand_apart(run):
    for i in range(20):
        run.hear_episode(i >= 10, -1.0, False, float(i))
    run.hear_episode(False, -1.0, True, 21.0)
    _, exploring, evaluated = run.success.columns
    assert exploring[9] == 0.0
    assert exploring[19] == 100.0
    assert math.isnan(exploring[20])
    assert evaluated[20] == 0.0


def test_a_warning_that_repeats_takes_one_line(run):
    for _ in range(5):
        run.warn("learner", "behind")
    run.warn("learner", "lost")
    assert [line.text for line in run.warnings] == ["behind", "lost"]


def test_curves_of_a_long_run_keep_its_length_in_bounded_memory():
    history = History(1)
    for i in range(100_000):
        history.add(float(i), float(i))
    x, y = history.columns
    assert len(x) <= 601
    assert x[0] == 0.0
    assert x[-1] > 99_000
    assert np.array_equal(x, y)
    assert (np.diff(x) > 0).all()
