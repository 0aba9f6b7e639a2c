"""Lost batches are counted exactly; a collector that restarts or joins late has lost nothing."""

from hypothesis import given
from hypothesis import strategies as st

from ompo_ros.streams import StreamCounts


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
