"""Setpoints become a motion that no rule of the robot's maker stops, whatever they are."""

import numpy as np
import pytest

from ompo_ros.fci.limits import Limits
from ompo_ros.fci.motion import CYCLE, Motion, UnfitSetpoint
from ompo_ros.task.robot import load_robot

pytest.importorskip("ruckig")
ROBOT = load_robot("fr3")
LIMITS = Limits.of(ROBOT)
PERIOD = round(ROBOT.period / CYCLE)  # cycles


def played(setpoints, arrivals, cycles, start=ROBOT.home):
    """The commanded positions of every cycle."""
    motion = Motion(LIMITS, ROBOT.period, np.array(start))
    due = dict(zip(arrivals, setpoints, strict=True))
    path = [np.array(start)] * 3
    for cycle in range(cycles):
        if cycle in due:
            motion.setpoint(due[cycle], cycle * CYCLE)
        path.append(np.array(motion.advance()))
    return np.array(path), motion


def broken_limits(path):
    """The limits of the maker that a path breaks, by differences as the robot's own check takes them."""
    velocity = np.diff(path, axis=0) / CYCLE
    acceleration = np.diff(velocity, axis=0) / CYCLE
    jerk = np.diff(acceleration, axis=0) / CYCLE
    down, up = ROBOT.speed_limit.at(ROBOT.speed_limit.distances(path[1:]))
    kept = {
        "position": ((path >= ROBOT.position_low) & (path <= ROBOT.position_high)).all(),
        "velocity": ((velocity <= up) & (velocity >= -down)).all(),
        "acceleration": (np.abs(acceleration) <= ROBOT.acceleration).all(),
        "jerk": (np.abs(jerk) <= ROBOT.jerk).all(),
    }
    return [name for name, is_kept in kept.items() if not is_kept]


def streams():
    """Setpoints and the cycles of their arrival, by name."""
    random = np.random.default_rng(0)
    count = 100
    ticks = np.arange(count)
    regular = ticks * PERIOD
    sine = ROBOT.home + 0.3 * np.sin(3.0 * ticks[:, None] * ROBOT.period) * [1, -1, 1, 1, -1, 1, 1]
    met = ROBOT.home + 0.0 * ticks[:, None]  # where the motion begins: the arm meets no setpoints but near ones
    raw, wild, near = met.copy(), met.copy(), met.copy()
    raw[1:] += random.uniform(-0.1, 0.1, (count - 1, 7))
    wild[1:] = random.uniform(ROBOT.position_low - 1.0, ROBOT.position_high + 1.0, (count - 1, 7))
    near[1:] = np.where(random.random((count - 1, 7)) < 0.5, LIMITS.low, LIMITS.high) + 0.01
    return {
        "smooth": (sine, regular),
        "jittered": (sine, regular + random.integers(0, PERIOD // 2, count)),
        "stalling": (sine, regular + np.where(ticks > 40, 300, 0) + np.where(ticks > 60, 90, 0)),
        "raw": (raw, regular),
        "wild": (wild, regular),
        "wild from the start": (wild[1:], regular[1:]),
        "near the ends": (near, regular),
    }


@pytest.mark.parametrize("name", streams())
def test_every_stream_of_setpoints_becomes_a_motion_within_the_makers_limits(name):
    setpoints, arrivals = streams()[name]
    path, _ = played(setpoints, arrivals.tolist(), int(arrivals[-1]) + 500)
    assert broken_limits(path) == []


def test_setpoints_without_this_motion_break_the_limits():
    setpoints, _ = streams()["smooth"]
    assert broken_limits(np.repeat(setpoints, PERIOD, axis=0)) == ["velocity", "acceleration", "jerk"]


def test_a_smooth_stream_is_followed_a_period_and_a_half_behind():
    setpoints, arrivals = streams()["smooth"]
    path, _ = played(setpoints, arrivals.tolist(), int(arrivals[-1]))
    behind = path[3 + PERIOD * 3 // 2 :: PERIOD]
    settled = slice(25, len(behind))
    assert np.abs(behind[settled] - setpoints[: len(behind)][settled]).max() < 2e-3


@pytest.mark.parametrize("distance", [0.05, 0.1, 0.5])
def test_setpoints_far_from_where_the_arm_stands_are_met_slowly(distance):
    goal = ROBOT.home + distance
    path, motion = played([goal] * 100, [PERIOD * tick for tick in range(100)], 100 * PERIOD)
    assert np.abs(np.diff(path, axis=0)).max() / CYCLE < 0.25
    assert broken_limits(path) == []
    assert motion.at_rest
    np.testing.assert_allclose(motion.position, goal, atol=1e-6)


def test_one_far_setpoint_is_reached_slowly_too():
    path, motion = played([ROBOT.home + 0.3], [0], 3000)
    assert np.abs(np.diff(path, axis=0)).max() / CYCLE < 0.25
    np.testing.assert_allclose(motion.position, ROBOT.home + 0.3, atol=1e-6)


def test_a_stream_that_begins_elsewhere_keeps_its_own_speed():
    away = np.linspace(0.0, 1.0, 30)[:, None] ** 2 * np.ones(7)
    setpoints = ROBOT.home + 0.06 + 0.5 * away
    path, _ = played(setpoints, [PERIOD * tick for tick in range(30)], 30 * PERIOD)
    fastest = np.abs(np.diff(path, axis=0)).max() / CYCLE
    own = np.abs(np.diff(setpoints, axis=0)).max() / ROBOT.period
    assert 0.9 * own < fastest < own + 0.3
    assert broken_limits(path) == []


def fastest(path, since=0):
    return np.abs(np.diff(path[3 + since :], axis=0)).max() / CYCLE


def hasty(speed, count=60):
    """The way (count, 7) of a sender that stands for four ticks and then goes with all its acceleration."""
    speeds = np.minimum(speed, np.maximum(np.arange(count) - 4, 0) * 0.9 * ROBOT.acceleration[0] * ROBOT.period)
    return np.outer(np.cumsum(speeds) * ROBOT.period, np.eye(7)[0])


@pytest.mark.parametrize("speed", [0.4, 0.8])
def test_closing_a_distance_makes_a_hasty_sender_hardly_faster(speed):
    way, ticks = hasty(speed), [PERIOD * tick for tick in range(60)]
    met, _ = played(ROBOT.home + way, ticks, 60 * PERIOD)
    path, _ = played(ROBOT.home + 0.1 * np.eye(7)[0] + way, ticks, 60 * PERIOD)
    assert fastest(path) < fastest(met) + 0.25
    assert broken_limits(path) == []


def test_a_distance_is_closed_even_if_the_arm_had_to_stop_on_the_way():
    way, ticks = 0.1 * np.eye(7)[0] + hasty(0.8, 9), [PERIOD * tick for tick in range(9)]
    path, motion = played(ROBOT.home + way, ticks, 3000)
    assert motion.at_rest
    np.testing.assert_allclose(path[-1], ROBOT.home + way[-1], atol=1e-6)


def test_a_lost_setpoint_turns_no_arm_back_that_closes_a_distance():
    goal = ROBOT.home + 0.3 * np.eye(7)[0]
    arrivals = [PERIOD * tick + tick % 4 for tick in range(50) if tick not in (7, 8, 15)]
    path, _ = played([goal] * len(arrivals), arrivals, 50 * PERIOD)
    assert np.diff(path[:, 0]).min() > -1e-9


@pytest.mark.parametrize("pause", [400, 1500])
def test_after_a_pause_a_sender_that_begins_where_the_arm_is_finds_it_there(pause):
    far = ROBOT.home + 0.5 * np.eye(7)[0]
    here = played([far], [0], pause)[0][-1]
    ticks = [pause + PERIOD * tick for tick in range(60)]
    path, _ = played([far, *(here + hasty(0.5))], [0, *ticks], ticks[-1])
    assert fastest(path, since=pause) < 0.75
    assert broken_limits(path) == []


def test_without_another_setpoint_the_arm_rests_at_the_last_one():
    setpoints, arrivals = streams()["smooth"]
    path, motion = played(setpoints[:9], arrivals[:9].tolist(), 1000)
    assert motion.at_rest
    np.testing.assert_allclose(path[-1], setpoints[8], atol=1e-9)


@pytest.mark.parametrize("speed", [0.1, 0.4, 1.0])
def test_the_arm_begins_to_brake_about_50_ms_after_the_last_setpoint(speed):
    ticks = np.arange(24)
    way = np.cumsum(np.minimum(speed, 4.0 * ROBOT.period * ticks)) * ROBOT.period
    path, _ = played(ROBOT.home + np.outer(way, np.eye(7)[0]), (ticks * PERIOD).tolist(), 23 * PERIOD + 60)
    since_last = np.diff(path[-61:, 0]) / CYCLE
    np.testing.assert_allclose(since_last[:40], speed, rtol=0.01)
    assert since_last[-1] < 0.95 * speed


def test_after_lost_cycles_the_motion_goes_on_from_where_the_robot_went():
    setpoints, arrivals = streams()["smooth"]
    path, motion = played(setpoints[:9], arrivals[:9].tolist(), 330)
    velocity, acceleration, lost = np.array(motion.velocity), np.array(motion.acceleration), 5 * CYCLE
    gone = path[-1] + velocity * lost + acceleration * lost**2 / 2.0  # as the robot bridges a gap
    motion.resume(gone.tolist(), (velocity + acceleration * lost).tolist(), acceleration.tolist())
    before = [gone - (velocity + acceleration * lost) * CYCLE, gone]
    after = np.array([*before, *(motion.advance() for _ in range(500))])
    assert broken_limits(after[1:]) == []
    np.testing.assert_allclose(after[-1], setpoints[8], atol=1e-9)


def test_no_state_of_the_arm_keeps_a_setpoint_from_being_reached():
    random = np.random.default_rng(0)
    for _ in range(2000):  # of which the planner refuses some
        velocity, change = random.uniform(-1.0, 1.0), random.uniform(-0.1, 0.1)
        goal = ROBOT.home + (velocity + change) * 0.06 + random.uniform(-0.005, 0.005)
        motion = Motion(LIMITS, ROBOT.period, goal - (velocity + change) * 10.0 * ROBOT.period)
        motion.resume(ROBOT.home.tolist(), [velocity] * 7, [random.uniform(-3.0, 3.0)] * 7)
        motion.setpoint(goal, 0.0)
        motion.advance(0.5)
        motion.advance(0.5)
        np.testing.assert_allclose(motion.position, goal, atol=1e-6)


@pytest.mark.parametrize("setpoint", [np.zeros(6), np.full(7, np.nan), np.full(7, np.inf)])
def test_a_setpoint_that_is_no_position_is_refused(setpoint):
    motion = Motion(LIMITS, ROBOT.period, ROBOT.home)
    with pytest.raises(UnfitSetpoint, match="7 finite positions"):
        motion.setpoint(setpoint, 0.0)
