"""What is refused before anything starts, because a file or an arm's driver is not what the launch needs."""

import pytest

from ompo_ros.launching.arguments import ARGUMENTS, InvalidArgument
from ompo_ros.launching.files import check_arm
from ompo_ros.resources import resource_path


def arm(**given):
    return {**{name: argument.default for name, argument in ARGUMENTS.items()}, "robot": "fr3", **given}


def test_a_real_arm_gets_steps_only_if_that_driver_is_named(tmp_path):
    shipped = resource_path("config/robots/fr3.yaml").read_text()
    copy = tmp_path / "copy.yaml"
    copy.write_text(shipped)
    for robot in ("fr3", "panda", str(copy)):
        with pytest.raises(InvalidArgument, match=rf"needs driver:=.*{robot} sends steps.*answers with a reflex"):
            check_arm(arm(target="real", robot=robot))
        check_arm(arm(target="real", robot=robot, driver="ros2_control"))
        check_arm(arm(target="mujoco", robot=robot))
    copy.write_text(shipped.replace("driver: ros2_control", "driver: franka_ros2"))
    check_arm(arm(target="real", robot=str(copy)))


def test_a_driver_that_there_is_not_is_refused_by_name():
    with pytest.raises(InvalidArgument, match=r"driver:=frank is not possible.*franka_ros2"):
        check_arm(arm(target="real", driver="frank"))
