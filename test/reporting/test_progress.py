"""One line that says how a run goes: what a user asks for, what is not known yet left out, a bar for a terminal."""

from test_record import episode, sample

from ompo_ros.reporting import progress
from ompo_ros.reporting.record import RunRecord

NAN = float("nan")


def test_the_line_says_all_a_user_asks_for():
    record = RunRecord(target_steps=1000, last=sample())
    record.add_episode(episode(True, -2.0))
    assert progress.exploring(record, updates_due=3).plain == (
        "100/1000 steps, 1 episode | 1:30 left | success 100% | policy 3 | gap +0.75 | 40 updates/s | return -2.00"
    )


def test_success_at_first_is_shown_once_other_episodes_follow():
    record = RunRecord(target_steps=1000, last=sample())
    for number in range(21):
        record.add_episode(episode(number >= 20, -2.0))
    assert "| success 5% (0% at first) |" in progress.exploring(record, updates_due=3).plain


def test_what_is_not_known_yet_is_left_out():
    record = RunRecord(target_steps=0, last=sample(seconds=0.0, target_steps=0, r_local=NAN))
    assert progress.exploring(record, 0).plain == "0/∞ steps, 0 episodes | policy 3 | 40 updates/s"
    assert progress.exploring(RunRecord(target_steps=0), 0).plain == "waiting for the first steps on the target"


def test_once_the_steps_are_taken_it_shows_the_updates_that_are_caught_up():
    line = progress.exploring(RunRecord(target_steps=90, last=sample()), updates_due=1200)
    said = "100/90 steps taken, catching up 1200 updates | 0:30 left | "
    assert line.plain.startswith(said), "1200 updates at 40/s"
    assert line.drawn.startswith("█████░"), "400 of 1600 updates"


def test_a_pause_and_an_evaluation_are_shown():
    assert progress.paused(RunRecord(500, last=sample())).plain == "paused at 100/500 steps: the arm holds"
    assert progress.paused(RunRecord(500)).plain == "paused at the start: the arm holds"
    assert progress.evaluating("the result", 0, 40, 0).plain == "evaluating the result: 0/40 episodes"
    assert progress.evaluating("the result", 10, 40, 5).drawn == (
        "█████░░░░░░░░░░░░░░░ evaluating the result: 10/40 episodes | success 50%"
    )
