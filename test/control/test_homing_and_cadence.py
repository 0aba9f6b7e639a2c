"""The way home is smooth, slow enough and patient; the cadence counts what was late."""

import numpy as np
import pytest

from ompo_ros.control.cadence import Cadence
from ompo_ros.control.homing import MAX_LAG, Homing, detour
from ompo_ros.control.workspace import Workspace
from ompo_ros.task.robot import load_robot

ROBOT = load_robot("panda")
START = ROBOT.home + np.array([1.0, -0.5, 0.3, 0.2, -0.1, 0.05, 0.0])


@pytest.mark.parametrize("scale", [1.0, 0.2])
@pytest.mark.parametrize("start", [START, ROBOT.home + 0.02, ROBOT.home])
def test_home_is_reached_straight_at_a_safe_speed(start, scale):
    homing = Homing(ROBOT, start, scale)
    path = [start]
    while not homing.arrived:
        path.append(homing.next(path[-1]))
        assert len(path) < 2000
    np.testing.assert_allclose(path[-1], ROBOT.home, atol=1e-12)
    velocity = np.diff(path, axis=0) / ROBOT.period
    assert np.abs(velocity).max() <= ROBOT.home_speed * scale + 1e-9
    assert (np.abs(np.diff(velocity, axis=0)) / ROBOT.period <= ROBOT.acceleration).all()


def test_it_waits_for_an_arm_that_does_not_follow():
    homing = Homing(ROBOT, START)
    for _ in range(500):
        setpoint = homing.next(START)
    assert not homing.arrived
    assert np.abs(setpoint - START).max() <= MAX_LAG + ROBOT.home_speed * ROBOT.period


def straight(start, end):
    return start + np.linspace(0.0, 1.0, 50)[:, None] * (end - start)


@pytest.mark.parametrize(
    "position",
    [
        [-0.50, 1.24, 0.07, -0.09, 1.58, 3.01, 1.55],  # no joint alone makes room
        [0.05, 1.56, -0.02, -0.58, -1.06, 3.34, 0.77],  # 2 cm outside
    ],
)
def test_a_barred_arm_comes_home_by_other_postures_inside_the_workspace(position):
    workspace, position = Workspace(ROBOT), np.array(position)
    assert not workspace.never_further_out(straight(position, ROBOT.home))
    for tried in range(3):
        via = detour(ROBOT, workspace, position, tried)
        assert workspace.never_further_out(straight(position, via))
        position = via
        if workspace.never_further_out(straight(position, ROBOT.home)):
            break
    else:
        pytest.fail("three detours were not enough")


def test_the_cadence_tells_rate_late_ticks_and_the_worst():
    cadence = Cadence(25.0)
    for now in (0.0, 0.04, 0.083, 0.13, 0.16):
        cadence.tick(now)
    report = cadence.report()
    assert (report.ticks, report.late) == (4, 1)  # 43 ms is within 10 %, 47 ms is not
    assert report.worst == pytest.approx(0.047)
    assert report.actual_rate == pytest.approx(25.0)
    cadence.tick(0.26)
    assert cadence.report().late == 1
    assert (cadence.total_ticks, cadence.total_late) == (5, 2)
