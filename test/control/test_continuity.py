"""What an arm can do is believed; what only a broken sensor says is not."""

import numpy as np

from ompo_ros.control.continuity import Continuity
from ompo_ros.control.safety import ArmState
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("panda")


def state(offset, time):
    return ArmState(ROBOT.home + offset, np.zeros(7), time)


def test_motion_at_the_velocity_limits_is_believed():
    guard = Continuity(ROBOT, "ompo enable")
    for tick in range(50):
        assert not guard.doubt(ArmState(ROBOT.home + ROBOT.velocity * 0.04 * tick, ROBOT.velocity, 0.04 * tick))


def test_a_jump_is_doubted_however_long_it_lasts_and_forgotten_when_it_is_over():
    guard = Continuity(ROBOT, "ompo enable")
    assert not guard.doubt(state(0.0, 0.0))
    for tick in range(1, 250):
        assert "jumped by 2.00 rad: if the arm is really there, run `ompo enable`" in guard.doubt(
            state(2.0, 0.04 * tick)
        )
    assert not guard.doubt(state(0.2, 10.0))  # where it has braked to


def test_who_knows_where_the_arm_is_can_say_so():
    guard = Continuity(ROBOT, "ompo enable")
    guard.doubt(state(0.0, 0.0))
    assert guard.doubt(state(2.0, 0.04))
    guard.forget()
    assert not guard.doubt(state(2.0, 0.08))


def test_an_arm_that_was_moved_while_nobody_looked_is_believed_in_time():
    guard = Continuity(ROBOT, "ompo enable")
    guard.doubt(state(0.0, 0.0))
    assert not guard.doubt(state(2.0, 1.0))


def test_a_clock_that_was_set_back_blames_nobody():
    guard = Continuity(ROBOT, "ompo enable")
    guard.doubt(state(0.0, 100.0))
    assert not guard.doubt(state(2.0, 1.0))
    assert guard.doubt(state(0.0, 1.04))
