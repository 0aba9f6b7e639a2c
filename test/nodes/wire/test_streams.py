"""Lost batches are counted exactly; a collector that restarts or joins late has lost nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ompo_ros.nodes.wire.streams import MAX_COLLECTORS, StreamCounts
from ompo_ros.transitions import InvalidData


@given(dropped=st.sets(st.integers(1, 98)))
def test_every_gap_is_counted(dropped):
    counts = StreamCounts()
    for sequence in range(100):
        if sequence not in dropped:
            counts.count("arm", 1, sequence)
    assert counts.lost == len(dropped)
    assert counts.received == 100 - len(dropped)


def test_a_gap_is_reported_where_it_is_seen():
    counts = StreamCounts()
    assert [counts.count("arm", 1, sequence) for sequence in (5, 6, 9, 10)] == [0, 0, 2, 0]


def test_collectors_are_counted_apart():
    counts = StreamCounts()
    for sequence in (0, 1, 2):
        counts.count("left", 1, sequence)
    counts.count("right", 1, 0)
    counts.count("right", 1, 3)
    assert {name: stream.lost for name, stream in counts.by_collector().items()} == {"left": 0, "right": 2}


def test_a_restart_begins_anew_and_forgets_no_count():
    counts = StreamCounts()
    counts.count("arm", 1, 0)
    counts.count("arm", 1, 4)
    assert counts.count("arm", 2, 0) == 0
    assert (counts.received, counts.lost) == (3, 3)


def test_a_refused_batch_is_not_lost_and_says_nothing_of_its_stream():
    counts = StreamCounts()
    counts.count("arm", 1, 0)
    counts.refuse("arm", 1)
    counts.refuse("arm", 2)
    counts.refuse("stranger", 1)
    assert counts.count("arm", 1, 4) == 2
    assert counts.count("arm", 1, 6) == 1
    assert list(counts.by_collector()) == ["arm"]


@pytest.mark.parametrize("sequence", [2**64 - 1, 2**40])
def test_a_gap_no_sender_can_make_is_refused_and_changes_nothing(sequence):
    counts = StreamCounts()
    counts.count("arm", 1, 0)
    with pytest.raises(InvalidData, match="sequence"):
        counts.count("arm", 1, sequence)
    assert counts.count("arm", 1, 2) == 1
    assert (counts.received, counts.lost) == (2, 1)


def test_collectors_beyond_the_limit_are_refused_and_the_known_ones_go_on():
    counts = StreamCounts()
    for number in range(MAX_COLLECTORS):
        counts.count(str(number), 1, 0)
    with pytest.raises(InvalidData, match="collector_id"):
        counts.count("one too many", 1, 0)
    assert counts.count("0", 1, 2) == 1
    assert len(counts.by_collector()) == MAX_COLLECTORS
