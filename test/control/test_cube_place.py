"""No motion while somebody may have the cube in hand, and no episode where the cube does not belong."""

from dataclasses import replace

import numpy as np
import pytest

from ompo_ros.control.cube_place import CubePlace
from ompo_ros.control.safety import ArmState
from ompo_ros.task.kinematics import end_effector_position, hand_jacobian
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

PERIOD = 0.04
INSIDE, ELSEWHERE = np.array([0.6, 0.0, 0.02]), np.array([0.55, 0.05, 0.02])
OFF_THE_TABLE = np.array([0.9, 0.0, 0.02])
PUSH = Task("push", "dense")
ROBOT = load_robot("panda")


def arm_with_hand_at(place):
    """The state of an arm whose hand is there."""
    position = ROBOT.home
    for _ in range(20):
        jacobian = hand_jacobian(position[None])[0][0]
        position = position + np.linalg.pinv(jacobian) @ (place - end_effector_position(position))
    return ArmState(position, np.zeros(7), 0.0)


AT_THE_CUBE, FAR = arm_with_hand_at(INSIDE - np.array([0.05, 0.0, 0.0])), ArmState(ROBOT.home, np.zeros(7), 0.0)


class Watched(CubePlace):
    """A place with a clock; the cube has lain there for a while."""

    def __init__(self, task=PUSH, **options):
        super().__init__(task, ROBOT, **options)
        self.now = 0.0
        self.see(INSIDE, 3.1)

    def see(self, cube, seconds, *, running=False, arm=FAR):
        """What is said at the end of so many seconds with the cube there, or following a function of time."""
        said = ""
        for _ in range(round(seconds / PERIOD) + 1):
            said = self.wait(cube(self.now) if callable(cube) else cube, arm, self.now, running=running)
            self.now += PERIOD
        return said


@pytest.mark.parametrize(
    ("off", "height"),
    [
        ([0.9, 0.0, 0.02], ""),
        ([0.6, -0.3, 0.02], ""),
        ([0.6, 0.0, -0.3], ", its centre at z 0.02 m"),
        ([0.6, 0.0, 0.2], ", its centre at z 0.02 m"),
        ([0.6, 0.0, 0.04], ", its centre at z 0.02 m"),  # its upper face
    ],
)
def test_a_cube_elsewhere_is_asked_for_with_where_it_is_and_where_it_belongs(off, height):
    problem = CubePlace(PUSH, ROBOT).ask(np.array(off))
    place = f"x 0.45 to 0.75 and y -0.15 to 0.15 m{height}"
    assert problem == f"put the cube back on the table, to {place}: it is at {off}"


def test_a_cube_belongs_where_the_hand_may_come_behind_it():
    small = replace(ROBOT, workspace_low=np.array([0.2, -0.2, 0.0]), workspace_high=np.array([0.7, 0.2, 0.8]))
    place = CubePlace(PUSH, small)
    assert place.ask(np.array([0.63, 0.13, 0.02])) == ""
    for off in ([0.64, 0.0, 0.02], [0.6, -0.14, 0.02]):
        assert "to x 0.45 to 0.635 and y -0.135 to 0.135 m: it is" in place.ask(np.array(off))


@pytest.mark.parametrize("place", [[0.6, 0.0, -0.7], [0.6, 0.0, 0.3], [1.2, 0.0, 0.02], [0.05, 0.0, 0.02]])
def test_a_cube_off_the_table_or_out_of_reach_is_lost_to_the_arm(place):
    assert CubePlace(PUSH, ROBOT).lost(np.array(place))


@pytest.mark.parametrize("place", [[0.85, 0.0, 0.02], [0.3, 0.5, 0.02], [0.6, 0.0, 0.045], [0.6, 0.0, 0.0]])
def test_a_cube_that_a_push_may_have_led_there_is_not_lost(place):
    assert not CubePlace(PUSH, ROBOT).lost(np.array(place))


def test_somebody_fetches_a_lost_cube():
    place = Watched()
    assert place.lost(np.array([0.6, 0.0, -0.7]))
    assert "keep away" in place.see(INSIDE, 2.8)


def test_a_cube_that_the_arm_pushed_costs_no_time():
    place = Watched()
    began, way = place.now, np.array([0.02, 0.0, 0.0])
    said = {place.see(lambda now: INSIDE + way * (now - began), 0.0, running=True, arm=AT_THE_CUBE) for _ in range(100)}
    left = INSIDE + way * (place.now - began)
    assert {*said, place.see(left, 3.0, running=True), place.see(left, 3.0)} == {""}
    assert place.ask(left) == ""


def test_a_cube_that_slides_on_after_the_policy_or_the_hand_let_go_of_it_costs_no_time():
    for running, arm in ((False, AT_THE_CUBE), (True, FAR), (False, FAR)):
        place = Watched()
        assert place.see(INSIDE, 1.0, running=True, arm=AT_THE_CUBE) == ""
        began = place.now

        def slides(now, began=began):  # from 0.4 m/s, at a friction of 0.15
            passed = min(now - began, 0.4 / (0.15 * 9.81))
            return INSIDE + np.array([0.4 * passed - 0.15 * 9.81 * passed**2 / 2.0, 0.0, 0.0])

        said = {place.see(slides, 0.0, running=running, arm=arm) for _ in range(50)}
        assert said == {""}


def test_a_cube_that_moves_while_a_policy_moves_the_arm_far_off_is_in_somebodys_hand():
    place = Watched()
    assert place.see(INSIDE, 1.0, running=True, arm=AT_THE_CUBE) == ""
    assert place.see(INSIDE, 1.0, running=True) == ""
    assert "keep away" in place.see(lambda now: INSIDE + 0.1 * np.sin(now), 2.0, running=True)


def test_a_cube_that_the_tracker_lost_during_a_push_may_be_in_somebodys_hand():
    place = Watched()
    place.see(INSIDE, 1.0, running=True, arm=AT_THE_CUBE)
    place.see(None, 0.0, running=True, arm=AT_THE_CUBE)
    assert "keep away" in place.see(INSIDE, 0.2, arm=AT_THE_CUBE)


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
    place = CubePlace(PUSH, ROBOT)
    assert "keep away" in place.wait(INSIDE, FAR, 100.0, running=False)
    assert place.wait(INSIDE, FAR, 103.1, running=False) == ""


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
    place = CubePlace(Task("reach", "dense"), ROBOT)
    assert (place.wait(None, FAR, 0.0, running=False), place.ask(OFF_THE_TABLE)) == ("", "")
    assert not place.lost(OFF_THE_TABLE - 1.0)


def test_a_workspace_without_room_for_the_hand_around_a_cube_is_refused():
    narrow = replace(ROBOT, workspace_low=np.array([0.2, -0.05, 0.0]), workspace_high=np.array([0.7, 0.05, 0.8]))
    with pytest.raises(ValueError, match="leaves push no room: widen workspace_low"):
        CubePlace(PUSH, narrow)
    CubePlace(Task("reach", "dense"), narrow)
