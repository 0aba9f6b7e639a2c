"""The stand-in robot: disturbed as its domain says, holding when nobody commands, drifting from visit to visit home."""

import numpy as np
import pytest

from ompo_ros.control.continuity import Continuity
from ompo_ros.control.safety import ArmState
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import INCREMENT, Task

ROBOT = load_robot("panda")
PERIOD = ROBOT.period


def make(domain="nominal", task="reach", simulator="mujoco", seed=0):
    return make_stand_in(simulator, domain, Task(task, "dense"), ROBOT, seed=seed, command_timeout=0.2)


def write_domain(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return str(path)


def go(arm, target, ticks=80):
    for _ in range(ticks):
        arm.command(np.asarray(target))
        arm.advance(PERIOD)
    return arm.measured.position


def test_a_nominal_arm_goes_where_it_is_sent():
    arm = make()
    target = ROBOT.home + 0.3
    np.testing.assert_allclose(go(arm, target), target, atol=0.01)


def test_hidden_bias_acts_on_commands_as_it_does_in_the_worlds(tmp_path):
    """With gain g and bias b an arm comes to rest where g x increment + b = 0."""
    arm = make(write_domain(tmp_path, "parameters: {action_gain: 0.5, action_bias: 0.2}"))
    offset = go(arm, ROBOT.home) - ROBOT.home
    np.testing.assert_allclose(offset, INCREMENT * 0.2 / 0.5, atol=0.003)


def moved_by(ahead):
    arm = make()
    before = arm.measured.position
    arm.command(ROBOT.home + ahead)
    return np.abs(arm.advance(PERIOD).position - before).max()


def test_a_command_further_ahead_pulls_harder_up_to_a_limit_as_on_a_real_driver():
    assert moved_by(3 * INCREMENT) > 1.5 * moved_by(INCREMENT)
    assert moved_by(1.0) == moved_by(ROBOT.max_lead)


@pytest.mark.parametrize("simulator", ["mujoco", "panda_gym"])
def test_an_arm_far_behind_its_commands_never_leaps_beyond_what_a_collector_trusts(simulator, tmp_path):
    """As one does that pressed on something and comes free."""
    if simulator == "panda_gym":
        pytest.importorskip("pybullet")
    arm = make(write_domain(tmp_path, "parameters: {action_bias: 0.8, action_gain: 1.2}"), simulator=simulator)
    ahead = arm.measured.position + ROBOT.max_lead * np.array([1, -1, 1, 1, 1, -1, 1])
    continuity, now = Continuity(ROBOT, "ompo enable"), 0.0
    for _ in range(5):
        assert continuity.doubt(ArmState(arm.measured.position, arm.measured.velocity, now)) == ""
        arm.command(ahead)
        arm.advance(PERIOD)
        now += PERIOD


def test_without_commands_it_holds_its_position():
    arm = make()
    go(arm, ROBOT.home + 0.4, ticks=10)
    assert not arm.is_holding
    arm.advance(0.3)
    assert arm.is_holding
    held = arm.measured.position
    arm.advance(2.0)
    np.testing.assert_allclose(arm.measured.position, held, atol=0.03)
    arm.command(ROBOT.home)
    assert not arm.is_holding


@pytest.mark.parametrize("command", [np.full(7, np.nan), np.zeros(6), np.full(7, np.inf)])
def test_a_senseless_command_is_refused(command):
    with pytest.raises(ValueError, match="7 finite positions"):
        make().command(command)


def test_each_return_home_is_the_next_episode_of_a_drift(tmp_path):
    drift = "drift: {action_bias: {jumps: {at: [1, 2], values: [0.0, 0.3, -0.3]}}}"
    arm = make(write_domain(tmp_path, drift))
    offsets = []
    for episode in range(3):
        assert arm.episode == episode
        offsets.append((go(arm, ROBOT.home) - ROBOT.home).mean())
        go(arm, ROBOT.home + 0.3, ticks=20)
        go(arm, ROBOT.home)
    assert offsets == pytest.approx([0.0, 0.015, -0.015], abs=0.003)


def test_a_tremble_at_home_is_no_new_episode():
    arm = make()
    for _ in range(5):
        go(arm, ROBOT.home + 0.02, ticks=10)
        go(arm, ROBOT.home, ticks=10)
    assert arm.episode == 0


def test_the_cube_is_put_to_a_new_place_when_the_arm_comes_home():
    arm = make(task="push")
    before = arm.measured.cube
    go(arm, ROBOT.home + np.array([0.3, -0.2, 0, 0, 0, 0, 0]), ticks=20)
    go(arm, ROBOT.home)
    assert np.abs(arm.measured.cube - before)[:2].max() > 0.01


def test_same_seed_same_arm():
    runs = [go(make("randomized", seed=3), ROBOT.home + 0.1) for _ in range(2)]
    np.testing.assert_array_equal(*runs)


def test_panda_gym_is_the_same_robot_to_its_user():
    pytest.importorskip("pybullet")
    arm = make("paper", simulator="panda_gym")
    target = ROBOT.home + 0.2
    np.testing.assert_allclose(go(arm, target), target, atol=0.03)
    arm.close()


def test_a_domain_the_simulator_cannot_express_is_refused():
    pytest.importorskip("pybullet")
    with pytest.raises(ValueError, match="friction_loss"):
        make("hidden", simulator="panda_gym")
