"""The source never outruns its budget, and updates wait for the data that pay for them."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ompo_ros.learning.pacing import Pacing

PACING = Pacing(warmup=1000, source_ratio=10.0, update_to_data=4.0, target_steps=500)


def test_the_source_budget_follows_the_updates_that_the_targets_steps_are_paid_back_in():
    whole = [PACING.source_budget(steps, 10**6) for steps in (0, 1, 500)]
    assert whole == [1000, 1010, 6000]
    half = math.floor(PACING.update_to_data * 500 / 2)
    assert [PACING.source_budget(500, updates) for updates in (0, half)] == [1000, 3500]
    assert replace(PACING, update_to_data=0.0).source_budget(500, 0) == 6000


def test_a_learner_is_behind_when_more_than_an_episodes_updates_are_due():
    due = math.floor(PACING.update_to_data * 500)
    for updates, behind in ((0, True), (due - math.ceil(PACING.update_to_data * 50), False), (due, False)):
        assert PACING.is_behind(10**6, 500, updates, 50) == behind


def test_no_update_before_the_warmup_is_there():
    assert PACING.updates_due(source_steps=899, target_steps=100, updates=0) == 0
    assert PACING.updates_due(source_steps=900, target_steps=100, updates=0) == 400
    assert PACING.updates_due(source_steps=0, target_steps=1000, updates=0) == 4000


@given(steps=st.lists(st.integers(0, 50), max_size=30))
def test_spending_what_is_due_holds_the_ratio_exactly(steps):
    seen = updates = 0
    for step in steps:
        seen += step
        updates += PACING.updates_due(1000, seen, updates)
    assert updates == 4 * seen


def test_a_run_is_finished_when_its_steps_are_taken_and_learned_from():
    assert PACING.finished(500, 2000)
    assert not PACING.finished(500, 1999)
    assert not PACING.finished(499, 2000)


def test_a_run_without_a_limit_never_finishes():
    assert not Pacing(0, 1.0, 1.0, 0).finished(10**9, 10**9)
