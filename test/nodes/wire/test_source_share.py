"""What sources send, and what they send again after their learner has lost it."""

import pytest

from ompo_ros.learning.pacing import Pacing
from ompo_ros.nodes.wire.source_share import SourceShare

BATCH = 64


class Run:
    """Sources, and a learner that reports each second."""

    def __init__(self, sources: int, pacing: Pacing, target_steps: int = 0) -> None:
        self.shares = [SourceShare(sources) for _ in range(sources)]
        self.pacing, self.target_steps, self.steps = pacing, target_steps, 0

    def report(self, delivered: bool = True) -> int:
        """One status, and what the sources send after it."""
        for share in self.shares:
            budget = self.pacing.source_budget(self.target_steps, 0)
            share.hear(self.steps, budget, all_sent=True)
        sent = 0
        for share in self.shares:
            while share.has_room:
                share.count(BATCH)
                sent += BATCH
        self.steps += sent if delivered else 0
        return sent


def test_nothing_is_sent_before_the_first_status():
    assert not SourceShare(1).has_room


@pytest.mark.parametrize("sources", [1, 2, 3])
def test_a_budget_that_has_arrived_is_not_sent_again_however_long_it_stands(sources):
    run = Run(sources, Pacing(warmup=1000))
    assert 1000 <= run.report() < 1000 + sources * BATCH
    assert not any(run.report() for _ in range(20))


@pytest.mark.parametrize("sources", [1, 2, 3])
def test_what_a_learner_lost_before_it_reported_anything_is_sent_again(sources):
    run = Run(sources, Pacing(warmup=500, source_ratio=30.0, update_to_data=10.0))
    run.report()
    run.steps = 0  # killed before its next status, and started again
    assert sum(run.report() for _ in range(6)) >= 500
    assert 500 <= run.steps < 500 + sources * BATCH
    assert not any(run.report() for _ in range(20))


def test_a_lower_count_is_believed_at_once():
    run = Run(1, Pacing(warmup=1000))
    run.report()
    run.report()
    run.steps = 300
    assert run.report() >= 700


def test_batches_that_still_wait_for_the_receiver_are_not_made_again():
    share = SourceShare(1)
    share.hear(0, 2 * BATCH, all_sent=True)
    share.count(2 * BATCH)
    for _ in range(20):
        share.hear(0, 2 * BATCH, all_sent=False)
    assert not share.has_room
    for _ in range(3):
        share.hear(0, 2 * BATCH, all_sent=True)
    assert share.has_room


def test_a_learner_that_refuses_all_of_it_is_sent_ever_less():
    run = Run(1, Pacing(warmup=1000))
    sent = [run.report(delivered=False) for _ in range(300)]
    assert sum(map(bool, sent[:30])) == 4
    assert sum(map(bool, sent)) < 12
    run.report()
    run.steps = 64
    run.report()
    assert any(run.report() for _ in range(4))


def test_a_source_that_comes_late_finds_its_part_sent_by_the_other():
    pacing = Pacing(warmup=1024)
    run = Run(2, pacing)
    late = run.shares.pop()
    assert run.report() == 512
    for _ in range(40):
        run.report()
    run.shares.append(late)
    run.report()
    assert 1024 <= run.steps <= 1024 + 2 * BATCH


def test_a_source_that_hears_but_cannot_send_finds_its_part_sent_by_the_other():
    run = Run(2, Pacing(warmup=1024))
    slow = run.shares.pop()
    for _ in range(40):
        run.report()
        slow.hear(run.steps, 1024, all_sent=True)
    assert 1024 <= run.steps <= 1024 + BATCH
    assert not slow.has_room


def test_transitions_that_were_taken_back_are_made_anew():
    share = SourceShare(1)
    share.hear(0, 2 * BATCH, all_sent=True)
    share.count(2 * BATCH)
    assert not share.has_room
    share.count(-BATCH)
    assert share.has_room
