"""Commands and states are lost in every way in which a network or a busy machine loses them: the arm goes on."""

import time

import numpy as np
import pytest
from fci_robot import ADDRESS, ROBOT, simulated
from fci_rules import Commanded, Reflex, Rules

from ompo_ros.fci.limits import Limits
from ompo_ros.fci.loss import catch_up
from ompo_ros.fci.motion import CYCLE, Motion

pytest.importorskip("ruckig")
PERIOD = round(ROBOT.period / CYCLE)  # cycles
SETPOINTS = 25
LAST = 20 + SETPOINTS * PERIOD  # the cycle from which on nothing is lost
LIMITS = Limits.of(ROBOT)


def setpoints(name, random):
    ticks = np.arange(SETPOINTS)[:, None]
    if name == "accelerating":  # nearly as hard as the arm may, and back
        speed = 0.9 * ROBOT.acceleration * ROBOT.period * np.cumsum(random.choice([-1, 1], (SETPOINTS, 7)), axis=0)
        return ROBOT.home + np.cumsum(np.clip(speed, -1.2, 1.2) * ROBOT.period, axis=0)
    if name == "waves":
        return ROBOT.home + 0.3 * np.sin(random.uniform(1.0, 5.0, 7) * ticks * ROBOT.period)
    if name == "jumps":
        return ROBOT.home + random.uniform(-0.1, 0.1, (SETPOINTS, 7))
    return np.repeat(ROBOT.home[None], SETPOINTS, axis=0)  # at rest


def losses(name, random, longest):
    """What is lost from which cycle on: cycle -> (how, cycles)."""
    drawn, cycle = {}, 2
    while (cycle := cycle + 1 + int(random.exponential(20.0))) < LAST:
        how = str(random.choice(["commands", "late", "states", "stall"])) if name == "all" else name
        drawn[cycle] = (how, int(random.integers(1, longest + 1)))
    return drawn


def follow(robot, stream, lost, catch_up=catch_up):
    """Drive the robot as the loop does; returns the motion and how many cycles were counted as lost."""
    motion, counted = Motion(LIMITS, ROBOT.period, ROBOT.home), 0
    due, late = list(stream), []
    blind = unheard = seen = 0  # cycles in which no state, no command comes through; the last state's number
    for cycle in range(LAST + 1000):
        state = robot.state()
        for arrival, number, position in late:
            if arrival == robot.number:
                robot.command(number, position)
        if blind:
            blind -= 1
            continue
        if seen:
            counted += catch_up(motion, state, robot.number - seen)
        seen = robot.number
        if due and cycle >= LAST - len(due) * PERIOD:
            motion.setpoint(due.pop(0), cycle * CYCLE)
        position = list(motion.advance())
        how, count = lost.get(cycle, ("", 0))
        unheard = count if how == "commands" else max(unheard - 1, 0)
        if how in ("late", "stall"):  # a stalled loop misses states meanwhile
            late.append((robot.number + count, robot.number, position))
        elif not unheard:
            robot.command(robot.number, position)
        blind = {"states": count, "stall": count - 1}.get(how, 0)
    return motion, counted


@pytest.mark.parametrize("how", ["commands", "late", "states", "stall", "all"])
@pytest.mark.parametrize("name", ["accelerating", "waves", "jumps", "rest"])
def test_no_pattern_of_losses_stops_the_arm(name, how):
    for seed, longest in enumerate((1, 2, 5, 5, 18)):  # the robot itself stops after twenty
        random = np.random.default_rng(seed)
        stream = setpoints(name, random)
        motion, _ = follow(Rules(), stream, losses(how, random, longest))
        assert motion.at_rest
        np.testing.assert_allclose(motion.position, np.clip(stream[-1], LIMITS.low, LIMITS.high), atol=1e-6)


@pytest.mark.parametrize(("how", "counted"), [("commands", 5), ("late", 1), ("states", 5), ("stall", 4)])
def test_lost_cycles_of_a_moving_arm_are_counted(how, counted):
    stream = setpoints("waves", np.random.default_rng(0))
    assert follow(Rules(), stream, {LAST // 2: (how, 5)})[1] == counted


def test_a_robot_that_is_where_we_sent_it_by_chance_is_caught_up_with():
    motion = Motion(LIMITS, ROBOT.period, ROBOT.home)
    home, still = ROBOT.home.tolist(), [0.0] * 7
    assert catch_up(motion, Commanded(home, still, still), cycles=1) == 0
    assert catch_up(motion, Commanded(home, [0.01] * 7, [2.0] * 7), cycles=3) == 2
    np.testing.assert_allclose(motion.velocity, 0.011)


def test_no_cycle_is_counted_as_lost_where_none_was():
    assert follow(Rules(), setpoints("jumps", np.random.default_rng(0)), {})[1] == 0


@pytest.mark.parametrize("how", ["commands", "late", "states", "stall"])
def test_a_motion_that_does_not_look_at_the_robot_is_stopped(how):
    random = np.random.default_rng(0)
    with pytest.raises(Reflex, match="discontinuity"):
        follow(Rules(), setpoints("accelerating", random), losses(how, random, 5), catch_up=lambda *_: 0)


def test_a_simulated_robot_drops_a_late_command():
    pylibfranka = pytest.importorskip("pylibfranka")
    robot = simulated()
    try:
        arm = pylibfranka.Robot(ADDRESS, pylibfranka.RealtimeConfig.kIgnore)
        control = arm.start_joint_position_control(pylibfranka.ControllerMode.JointImpedance)
        state, _ = control.readOnce()
        start = list(state.q_d)
        for _ in range(50):
            control.writeOnce(pylibfranka.JointPositions(start))
            state, _ = control.readOnce()
        time.sleep(0.5)  # for a command that the robot no longer waits for
        control.writeOnce(pylibfranka.JointPositions([start[0] + 0.1, *start[1:]]))
        state, _ = control.readOnce()
        assert list(state.q_d) == start
        end = pylibfranka.JointPositions(start)
        end.motion_finished = True
        control.writeOnce(end)
    finally:
        robot.close()
