"""Presets: both load, agree with what is published, and anything wrong is refused by file and key."""

import numpy as np
import pytest
import yaml

from ompo_ros.resources import resource_path
from ompo_ros.task.kinematics import HOME, JOINT_HIGH, JOINT_LOW, JOINT_NAMES, JOINT_SPEED
from ompo_ros.task.robot import ConfigFileError, load_robot
from ompo_ros.task.tasks import CONTROL_RATE


def test_the_panda_preset_is_the_panda_of_the_worlds():
    robot = load_robot("panda")
    assert robot.joint_names == JOINT_NAMES
    assert robot.control_rate == CONTROL_RATE
    np.testing.assert_array_equal(robot.home, HOME)
    np.testing.assert_array_equal(robot.position_low, JOINT_LOW)
    np.testing.assert_array_equal(robot.position_high, JOINT_HIGH)
    np.testing.assert_array_equal(robot.velocity, JOINT_SPEED)


@pytest.mark.parametrize(
    ("joint", "position", "down", "up"),  # worked out from libfranka's rate_limiting.h
    [
        (0, 0.0, 2.62, 2.62),
        (0, 2.5, 2.62, 1.4324),
        (0, -2.5, 1.4324, 2.62),
        (1, 1.7, 2.62, 0.4889),
        (3, -0.5, 2.62, 1.3833),
        (3, -2.9, 0.7885, 2.62),
        (5, 0.6, 0.4562, 4.18),
        (6, 3.0, 5.26, 0.4663),
        (6, 3.0159, 5.26, 0.0047),
        (0, 2.7437, 2.62, 0.0),
    ],
)
def test_the_velocity_limits_of_an_fr3_fall_towards_a_joints_end_as_its_maker_says(joint, position, down, up):
    robot = load_robot("fr3")
    q = robot.home.copy()
    q[joint] = position
    limits = robot.speed_limit.at(robot.speed_limit.distances(q))[:, joint]
    np.testing.assert_allclose(limits, (down, up), atol=1e-4)


def test_the_velocity_limits_of_a_panda_are_the_same_everywhere():
    robot = load_robot("panda")
    for q in (robot.position_low, robot.home, robot.position_high):
        np.testing.assert_array_equal(robot.speed_limit.at(robot.speed_limit.distances(q)), [robot.velocity] * 2)


NEAR_ENDS = {"low": [-3.0] * 7, "high": [4.0] * 7, "deceleration": [5.0] * 7, "offset": [0.3] * 7}
BROKEN = {
    "unknown key": ({"colour": "white"}, "colour"),
    "missing key": ({"jerk": None}, "jerk"),
    "too few": ({"home": [0.0] * 6}, "home"),
    "not a number": ({"velocity": ["fast"] * 7}, "velocity"),
    "not finite": ({"acceleration": [float("inf")] * 7}, "acceleration"),
    "zero limit": ({"jerk": [0.0] * 7}, "jerk"),
    "no torque": ({"torque": [0.0] * 7}, "torque"),
    "near ends, a part missing": ({"velocity_near_ends": {"low": [-3.0] * 7}}, "velocity_near_ends"),
    "near ends, no braking": ({"velocity_near_ends": {**NEAR_ENDS, "deceleration": [0.0] * 7}}, "velocity_near_ends"),
    "near ends, no motion at home": ({"velocity_near_ends": {**NEAR_ENDS, "high": [0.4] * 7}}, "velocity_near_ends"),
    "limits crossed": ({"position_low": [3.0] * 7}, "position"),
    "home beyond a limit": ({"home": [0.0, 0.41, 0.0, 1.0, 0.0, 2.26, 0.79]}, "home"),
    "home outside the workspace": ({"workspace_low": [0.8, -0.5, 0.0]}, "home"),
    "workspace crossed": ({"workspace_low": [0.9, -0.5, 0.0]}, "workspace"),
    "joint twice": ({"joint_names": ["a"] * 7}, "joint_names"),
    "no rate": ({"control_rate": 0}, "control_rate"),
    "negative time": ({"stale_after": -1}, "stale_after"),
    "unknown default driver": ({"driver": "rosserial"}, "driver"),
    "unknown driver": ({"drivers": {"rosserial": {}}}, "drivers"),
    "unknown interface": (
        {
            "drivers": {
                "ros2_control": {
                    "state_topic": "a",
                    "state_reliability": "best_effort",
                    "command_interface": "telepathy",
                    "command_topic": "b",
                }
            }
        },
        "command_interface",
    ),
}


@pytest.mark.parametrize(("change", "key"), BROKEN.values(), ids=BROKEN)
def test_a_wrong_preset_is_refused_by_file_and_key(tmp_path, change, key):
    content = yaml.safe_load(resource_path("config/robots/panda.yaml").read_text())
    content.update(change)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({name: value for name, value in content.items() if value is not None}))
    with pytest.raises(ConfigFileError, match=key) as refusal:
        load_robot(path)
    assert str(path) in str(refusal.value)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(ConfigFileError, match="fr3, panda"):
        load_robot("atlas")
    with pytest.raises(ConfigFileError, match="multipanda_ros2"):
        load_robot("panda", "rosserial")
    with pytest.raises(ConfigFileError, match=r"nowhere\.yaml"):
        load_robot("nowhere.yaml")
