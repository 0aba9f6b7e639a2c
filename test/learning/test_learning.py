"""OMPO learns: a small continuous task under a dynamics shift, from scratch to near optimal."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from discrepancy import SHIFTS, run


def test_adapts_to_a_turned_and_weakened_target():
    result = run({}, SHIFTS["turned"], seed=0)
    assert result.distance_before > 0.8  # chance: further from the goal than at the start
    assert result.distance < 0.12  # the farthest of one step reaches 0.1
    assert result.success > 0.75
