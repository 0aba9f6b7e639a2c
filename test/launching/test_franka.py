"""An FR3 by its maker's protocol: what does not fit is refused by the argument's name before anything starts."""

import subprocess

import pytest

from ompo_ros.launching.arguments import ARGUMENTS, InvalidArgument
from ompo_ros.launching.files import check_arm
from ompo_ros.resources import resource_path

DEFAULTS = {name: argument.default for name, argument in ARGUMENTS.items()}


def chosen(**given):
    return {**DEFAULTS, "robot": "fr3", **given}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": "fci"}, "target:=fci needs robot_ip:=ADDRESS"),
        ({"target": "mujoco", "robot_ip": "172.16.0.2"}, "robot_ip:=172.16.0.2 is for target:=fci"),
        ({"target": "franka_sim", "robot_ip": "172.16.0.2"}, "leave it out with target:=franka_sim"),
        ({"target": "fci", "robot_ip": "172.16.0.2", "robot": "panda"}, "robot:=panda is no FR3.*use robot:=fr3"),
        ({"target": "franka_sim", "robot": "panda"}, "robot:=panda is no FR3"),
        (
            {"target": "franka_sim", "driver": "franka_ros2"},
            "driver:=franka_ros2 takes a joint_trajectory.*leave driver",
        ),
        ({"target": "franka_sim", "real_time_factor": "2.0"}, "real_time_factor:=2.0 is not possible"),
        ({"target": "franka_sim", "task": "push"}, "task:=push is not possible: franka_sim has no cube"),
        (
            {"target": "franka_sim", "target_domain": "creeping"},
            "'creeping' sets action_bias, action_noise, which franka",
        ),
        ({"target": "franka_sim", "target_domain": "nowhere"}, "target_domain:=nowhere is not possible"),
    ],
)
def test_what_does_not_fit_an_fr3_by_its_makers_protocol_is_refused(given, said):
    with pytest.raises(InvalidArgument, match=said):
        check_arm(chosen(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"target": "fci", "robot_ip": "172.16.0.2"},
        {"target": "franka_sim"},
        {"target": "franka_sim", "target_domain": "sagging"},
    ],
)
def test_an_fr3_by_its_makers_protocol_needs_no_more_than_this(given):
    check_arm(chosen(**given))


def test_an_fr3_of_ones_own_is_an_fr3(tmp_path):
    own = tmp_path / "my_arm.yaml"
    own.write_text(resource_path("config/robots/fr3.yaml").read_text())
    check_arm(chosen(target="franka_sim", robot=str(own)))


@pytest.mark.parametrize("file", ["adapt.launch.py", "deploy.launch.py"])
def test_without_an_address_a_launch_starts_nothing(file, tmp_path):
    command = ["ros2", "launch", "ompo_ros", file, "target:=fci"]
    launch = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert launch.returncode == 1
    assert "target:=fci needs robot_ip:=ADDRESS" in launch.stdout.splitlines()[-1]
    assert "process started" not in launch.stdout
    assert list(tmp_path.iterdir()) == []
