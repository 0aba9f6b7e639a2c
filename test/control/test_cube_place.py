"""Episodes of push begin only where the cube belongs, and a person who puts it back has time to step away."""

import numpy as np
import pytest

from ompo_ros.control.cube_place import CubePlace
from ompo_ros.task.tasks import Task

INSIDE, ELSEWHERE = np.array([0.6, 0.0, 0.02]), np.array([0.55, 0.05, 0.02])
PUSH = Task("push", "dense")


@pytest.mark.parametrize("off", [[0.9, 0.0, 0.02], [0.6, -0.3, 0.02], [0.6, 0.0, -0.3], [0.6, 0.0, 0.2]])
def test_a_cube_elsewhere_is_asked_for_with_where_it_is_and_where_it_belongs(off):
    problem = CubePlace(PUSH).problem(np.array(off), 0.0)
    assert problem == f"put the cube back on the table, to x 0.45 to 0.75 and y -0.15 to 0.15 m: it is at {off}"


def test_a_cube_that_lies_well_costs_no_time_even_if_it_was_pushed():
    place = CubePlace(PUSH)
    assert place.problem(INSIDE, 0.0) == ""
    assert place.problem(ELSEWHERE, 0.04) == ""


def test_after_it_was_asked_for_the_cube_must_have_been_left_alone_for_three_seconds():
    place = CubePlace(PUSH)
    assert place.problem(np.array([0.9, 0.0, 0.02]), 0.0)
    for now, cube in ((10.0, INSIDE), (12.9, INSIDE), (13.1, ELSEWHERE), (16.0, ELSEWHERE + 0.001)):
        assert "keep away" in place.problem(cube, now)
    assert place.problem(ELSEWHERE, 16.2) == ""
    assert place.problem(INSIDE, 16.3) == ""


def test_reach_has_no_cube_to_put_back():
    assert CubePlace(Task("reach", "dense")).problem(None, 0.0) == ""
