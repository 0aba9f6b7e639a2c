"""An arm that changes is followed without a break, and how fast a method comes back is read off its rows."""

import math

import pytest
from test_compare import point

from ompo_ros.experiments.compare import Job
from ompo_ros.experiments.drift import BLOCK, follow, recovery, table
from ompo_ros.experiments.methods import Protocol
from ompo_ros.sim.gaps import Gap

PROTOCOL = Protocol(0.2, 1.0, 100, points=(BLOCK * 50,))


@pytest.mark.parametrize("method", ["shipped", "ompo"])
def test_ten_episodes_make_a_row(method):
    (row,) = follow(Job(Gap("mujoco", "drifting"), method, 1, PROTOCOL))
    assert (row.target_steps, row.episodes) == (500, BLOCK)
    assert row.updates == (0 if method == "shipped" else 100)
    assert row.source_steps == 0


def test_recovery_is_counted_from_the_jump():
    run = [point(500 * block, success) for block, success in enumerate((0.9, 1.0, 0.8, 0.2, 0.5, 0.9), start=1)]
    assert recovery(run, 30) == 30
    assert math.isinf(recovery(run[:5], 30))
    assert recovery([*run[:3], point(2000, 0.9)], 30) == 0
    assert math.isnan(recovery(run, 100))


def test_the_table_has_a_row_for_each_method_that_was_run():
    rows = [point(500, 0.5, method="ompo"), point(500, 1.0, method="ompo", seed=1)]
    assert "| ompo | 2 | 0.75 | 0.50 | 0.5 | nan, nan |" in table(rows)


def test_the_table_has_the_worst_ten_episodes_of_any_run():
    rows = [point(500, 0.9), point(1000, 0.3), point(500, 0.8, seed=1), point(1000, 0.4, seed=1)]
    assert "| sac | 2 | 0.60 | 0.60 | 0.3 |" in table(rows)
