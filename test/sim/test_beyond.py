"""Mechanics that no source expresses: what each does to an arm, and who refuses them."""

import numpy as np
import pytest

from ompo_ros.sim.beyond import Beyond, Mechanics
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.config_file import ConfigFileError
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import INCREMENT, Task

ROBOT = load_robot("panda")
ONE = np.array([0])


def stand_in(tmp_path, text, simulator="mujoco"):
    path = tmp_path / "target.yaml"
    path.write_text(f"beyond: {text}\n")
    return make_stand_in(simulator, str(path), Task("reach", "dense"), ROBOT, seed=0, command_timeout=0.5)


def moved(arm, ahead, ticks=25):
    """How far (7,) joints get that are asked again and again to go `ahead` (7,) of where they are measured."""
    begin = arm.measured.position
    for _ in range(ticks):
        arm.command(arm.measured.position + ahead)
        arm.advance(ROBOT.period)
    return arm.measured.position - begin


@pytest.mark.parametrize("simulator", ["mujoco", "panda_gym"])
def test_a_dead_zone_swallows_small_increments(tmp_path, simulator):
    if simulator == "panda_gym":
        pytest.importorskip("pybullet")
    arm = stand_in(tmp_path, "{dead_zone: 0.02}", simulator)
    assert np.abs(moved(arm, np.full(7, 0.015))).max() < 0.01
    assert moved(arm, np.full(7, 0.04)).min() > 0.05


def test_a_drive_saturates():
    actions = Mechanics(Beyond(saturation=0.5 * INCREMENT), 1).actions(np.array([[1.0, -1.0, 0.3, 0, 0, 0, 0]]))
    np.testing.assert_allclose(actions[0, :3], [0.5, -0.5, 0.3])


def test_a_joint_follows_the_next_one():
    actions = Mechanics(Beyond(coupling=0.5), 1).actions(np.array([[1.0, 0, 0, 0, 0, 0, 0]]))
    np.testing.assert_allclose(actions[0], [1.0, 0, 0, 0, 0, 0, 0.5])


def test_play_is_lost_when_a_drive_turns_around():
    mechanics = Mechanics(Beyond(backlash=0.01), 1)
    mechanics.reset(ONE, np.zeros((1, 7)))
    way = [mechanics.targets(np.full((1, 7), to))[0, 0] for to in (0.05, 0.1, 0.09, 0.05)]
    np.testing.assert_allclose(way, [0.04, 0.09, 0.09, 0.06])


def test_a_sensor_is_off(tmp_path):
    arm = stand_in(tmp_path, "{sensor_offset: [0.02, 0, 0, 0, 0, 0, 0]}")
    np.testing.assert_allclose(arm.measured.position - ROBOT.home, [0.02, 0, 0, 0, 0, 0, 0], atol=1e-6)


def test_a_tilted_base_bends_the_arm_to_its_low_side():
    low_left = Mechanics(Beyond(base_tilt=(0.3, 0.0)), 1).targets(ROBOT.home[None])[0] - ROBOT.home
    low_right = Mechanics(Beyond(base_tilt=(-0.3, 0.0)), 1).targets(ROBOT.home[None])[0] - ROBOT.home
    assert low_left[0] > 1e-4
    np.testing.assert_allclose(low_right, -low_left, atol=1e-12)


def test_no_source_takes_such_a_domain(tmp_path):
    path = tmp_path / "target.yaml"
    path.write_text("beyond: {coupling: 0.3}\n")
    with pytest.raises(ValueError, match="only a stand-in"):
        PandaVectorEnv(2, domain=str(path))
    with pytest.raises(ValueError, match="differ in mechanics"):
        PandaVectorEnv(2).set_domain(load_domain(path))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{slack: 1}", "unknown name 'slack'"), ("{dead_zone: -1}", "negative"), ("{base_tilt: [1]}", "2 numbers")],
)
def test_nonsense_is_refused_with_its_line(tmp_path, text, problem):
    with pytest.raises(ConfigFileError, match=problem):
        stand_in(tmp_path, text)
