"""No motion while somebody may have the cube in hand, and no episode where the cube does not belong."""

import numpy as np
import pytest

from ompo_ros.control.cube_place import CubePlace
from ompo_ros.task.tasks import Task

PERIOD = 0.04
INSIDE, ELSEWHERE = np.array([0.6, 0.0, 0.02]), np.array([0.55, 0.05, 0.02])
OFF_THE_TABLE = np.array([0.9, 0.0, 0.02])
PUSH = Task("push", "dense")


class Watched(CubePlace):
    """A place with a clock; the arm has just pushed."""

    def __init__(self, task=PUSH, **options):
        super().__init__(task, **options)
        self.now = 0.0
        self.see(INSIDE, 0.0, pushing=True)
        self.see(INSIDE, 3.1)

    def see(self, cube, seconds, *, pushing=False):
        """What is said at the end of so many seconds with the cube there, or following a function of time."""
        said = ""
        for _ in range(round(seconds / PERIOD) + 1):
            said = self.wait(cube(self.now) if callable(cube) else cube, self.now, pushing=pushing)
            self.now += PERIOD
        return said


@pytest.mark.parametrize(
    "off", [[0.9, 0.0, 0.02], [0.6, -0.3, 0.02], [0.6, 0.0, -0.3], [0.6, 0.0, 0.2], [0.6, 0.0, 0.04]]
)
def test_a_cube_elsewhere_is_asked_for_with_where_it_is_and_where_it_belongs(off):
    problem = CubePlace(PUSH).ask(np.array(off))
    assert problem == f"put the cube back on the table, to x 0.45 to 0.75 and y -0.15 to 0.15 m: it is at {off}"


def test_a_cube_that_the_arm_pushed_costs_no_time():
    place = Watched()
    assert place.see(lambda now: INSIDE + np.array([0.02 * now, 0.0, 0.0]), 4.0, pushing=True) == ""
    assert place.see(INSIDE + np.array([0.02 * place.now, 0.0, 0.0]), 0.0) == ""
    assert place.ask(INSIDE) == ""


def test_a_cube_that_was_asked_for_must_be_back_and_at_rest_for_three_seconds():
    place = Watched()
    assert place.ask(OFF_THE_TABLE)
    assert "put the cube back" in place.see(OFF_THE_TABLE, 10.0)
    assert "keep away" in place.see(INSIDE, 2.8)
    assert "keep away" in place.see(ELSEWHERE, 2.8)
    assert place.see(ELSEWHERE, 1.0) == ""


def test_a_cube_that_the_tracker_lost_may_be_in_somebodys_hand():
    place = Watched()
    place.see(None, 0.0)
    assert "keep away" in place.see(INSIDE, 2.8)
    assert place.see(INSIDE, 0.3) == ""


def test_a_cube_that_moves_although_no_policy_moves_the_arm_is_in_somebodys_hand():
    place = Watched()
    assert "keep away" in place.see(lambda now: INSIDE + np.array([0.05 * np.sin(now), 0.0, 0.0]), 20.0)
    assert "keep away" in place.see(INSIDE, 2.8)
    assert place.see(INSIDE, 1.0) == ""


def test_before_the_first_motion_somebody_may_have_just_put_it_there():
    place = CubePlace(PUSH)
    assert "keep away" in place.wait(INSIDE, 100.0, pushing=False)
    assert place.wait(INSIDE, 103.1, pushing=False) == ""


def test_an_ordinary_trackers_noise_costs_no_time():
    place, rng = Watched(), np.random.default_rng(0)
    place.see(None, 0.0)
    assert place.see(lambda _: INSIDE + rng.normal(0.0, 0.002, 3), 3.5) == ""


def test_beside_a_stand_in_nobody_has_to_step_away():
    place = Watched(rest_time=0.0)
    assert place.see(ELSEWHERE, 0.0) == ""
    assert place.ask(OFF_THE_TABLE)
    assert "put the cube back" in place.see(OFF_THE_TABLE, 1.0)
    assert place.see(INSIDE, 0.0) == ""


def test_reach_has_no_cube_to_put_back():
    place = CubePlace(Task("reach", "dense"))
    assert (place.wait(None, 0.0, pushing=False), place.ask(OFF_THE_TABLE)) == ("", "")
