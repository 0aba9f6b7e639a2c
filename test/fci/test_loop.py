"""The maker's client and a server with the robot's rules: what moves, what stops, and what is said of it."""

import re
import signal
import time

import numpy as np
import pytest
from fci_robot import ADDRESS, ANOTHER, ROBOT, Driven, settings, simulated, wave
from waiting import wait_until

from ompo_ros.fci.messages import Phase
from ompo_ros.fci.process import FciProcess


@pytest.fixture(scope="module")
def robot():
    robot = simulated()
    yield robot
    robot.close()


@pytest.fixture
def driven(robot):
    driven = Driven()
    yield driven
    driven.close()


def streams():
    """Setpoints, and the states (10 ms) between them."""
    random, smooth = np.random.default_rng(0), wave(1.6)
    count = len(smooth)
    return {
        "smooth": (smooth, np.full(count, 4)),
        "jittered": (smooth, random.integers(2, 7, count)),
        "stalling": (smooth, np.where(np.arange(count) == count // 2, 40, 4)),
        "raw": (np.vstack((ROBOT.home, ROBOT.home + random.uniform(-0.15, 0.15, (count - 1, 7)))), np.full(count, 4)),
    }


@pytest.mark.parametrize("name", streams())
def test_the_robot_follows_every_stream_without_a_reflex(driven, name):
    setpoints, gaps = streams()[name]
    driven.send(setpoints, gaps)
    rest = driven.until_over()
    assert driven.faults == []
    assert rest.counts.setpoints == len(setpoints)
    assert rest.counts.refused == 0
    np.testing.assert_allclose(rest.position, setpoints[-1], atol=2e-3)


def test_setpoints_written_as_they_are_stop_the_robot(robot):
    import pylibfranka

    arm = pylibfranka.Robot(ADDRESS, pylibfranka.RealtimeConfig.kIgnore)
    control = arm.start_joint_position_control(pylibfranka.ControllerMode.JointImpedance)
    state, _ = control.readOnce()
    start, period = np.array(state.q_d), round(ROBOT.period / 1e-3)

    def write_as_they_are():
        for cycle in range(50 * period):
            control.writeOnce(pylibfranka.JointPositions((start + 0.02 * (cycle // period)).tolist()))
            control.readOnce()

    with pytest.raises(pylibfranka.ControlException, match="joint_motion_generator_velocity_discontinuity"):
        write_as_they_are()
    arm.automatic_error_recovery()


def test_after_a_reflex_nothing_moves_until_recovered_and_commanded_anew(robot, driven):
    driven.send(wave(1.6)[:15])
    robot.raise_reflex()
    assert driven.fault().startswith("reflex: joint_reflex")
    stopped = driven.states(50).position
    driven.send(wave(1.6)[15:25])
    assert driven.until_phase(Phase.STOPPED).counts.refused == 10
    assert driven.recover() == ""
    driven.send(wave(1.6)[15:25])  # the same sender goes on: it was not enabled again
    state = driven.until_phase(Phase.RECOVERED)
    np.testing.assert_allclose(state.position, stopped, atol=5e-3)
    driven.states(100)
    driven.send(stopped + 0.05 * np.linspace(0.0, 1.0, 10)[:, None])
    driven.until_phase(Phase.WAITING)
    np.testing.assert_allclose(driven.states(20).position, stopped + 0.05, atol=5e-3)


def test_a_recovery_that_takes_long_is_no_pause_of_the_commands(robot, driven):
    driven.send(wave(1.6)[:15])
    robot.raise_reflex()
    driven.fault()
    stopped = driven.states(50).position
    robot.process.send_signal(signal.SIGSTOP)
    driven.ask_recovery()
    time.sleep(0.7)  # the sender of a node that is blocked meanwhile
    driven.fci.send_setpoint(stopped + 0.1)
    robot.process.send_signal(signal.SIGCONT)
    driven.until(lambda: driven.answers, "an answer to the recovery")
    driven.send([stopped + 0.1] * 20)
    state = driven.until_phase(Phase.RECOVERED)
    assert state.counts.refused >= 20
    np.testing.assert_allclose(state.position, stopped, atol=5e-3)


def test_a_pressed_stop_is_named_and_can_only_be_left_after_its_release(robot, driven):
    driven.send(wave(1.6)[:15])
    robot.press_user_stop()
    try:
        assert driven.fault().startswith("user stop")
        assert "user stop" in driven.recover()
    finally:
        robot.release_user_stop()
    wait_until(lambda: driven.recover() == "", "the recovery")
    driven.until_phase(Phase.RECOVERED)


def test_a_stop_pressed_while_nothing_moves_is_named_too(robot, driven):
    robot.press_user_stop()
    try:
        assert driven.fault().startswith("user stop")
    finally:
        robot.release_user_stop()
    wait_until(lambda: driven.recover() == "", "the recovery")


def test_the_end_of_the_node_brings_the_arm_to_rest(robot):
    first = Driven()
    setpoints = wave(1.6)[:15]
    first.send(setpoints)
    assert first.close() == 0
    assert first.faults == []
    second = Driven()
    state = second.states(20)
    assert second.close() == 0
    assert state.phase is Phase.WAITING
    np.testing.assert_allclose(state.position, setpoints[-1], atol=2e-3)
    assert np.abs(state.velocity).max() < 0.01


@pytest.mark.parametrize(("address", "reason"), [("127.255.255.1", "refused"), ("robot.invalid", "[Hh]ost")])
def test_a_robot_that_is_not_there_is_refused_with_what_to_check(address, reason):
    pytest.importorskip("pylibfranka")
    fci = FciProcess(settings(address))
    next(packet for packet in fci.packets() if re.search(reason, packet.decode()))  # by now it has come up
    with pytest.raises(ConnectionError, match=rf"no FCI at '{address}'.*({reason}).*Check robot_ip"):
        fci.connect(10.0)
    fci.close()


def test_a_robot_lost_in_the_middle_of_a_motion_is_named_and_found_again():
    robot = simulated(host=ANOTHER)
    driven = Driven(ANOTHER)
    try:
        driven.send(wave(1.6)[:15])
        robot.process.kill()
        assert driven.fault().startswith("connection lost")
        assert driven.recover() != ""
        robot.close()
        robot = simulated(host=ANOTHER)
        assert driven.recover() == ""
        driven.until_phase(Phase.RECOVERED)
    finally:
        driven.close()
        robot.close()


def test_a_loop_that_hangs_is_stopped_by_the_robot_itself():
    robot = simulated(host=ANOTHER, enforce_communication=True)
    driven = Driven(ANOTHER)
    try:
        driven.send(wave(1.6)[:15])
        driven.fci.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "communication_constraints_violation" in robot.log, "the robot's reflex")
        driven.fci.process.send_signal(signal.SIGCONT)
        assert driven.fault().startswith("reflex: communication_constraints_violation")
    finally:
        driven.fci.process.send_signal(signal.SIGCONT)
        driven.close()
        robot.close()
