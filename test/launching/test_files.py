"""What is refused before anything starts, because a file or an arm's driver is not what the launch needs."""

import pytest

from ompo_ros.launching.arguments import ARGUMENTS, InvalidArgument
from ompo_ros.launching.files import check_arm
from ompo_ros.resources import resource_path


def arm(**given):
    return {**{name: argument.default for name, argument in ARGUMENTS.items()}, "robot": "fr3", **given}


def test_a_real_arm_with_a_shipped_preset_needs_a_named_driver():
    with pytest.raises(InvalidArgument, match=r"needs driver:=.*franka_ros2.*a Franka answers with a reflex"):
        check_arm(arm(target="real"))
    check_arm(arm(target="real", driver="franka_ros2"))
    check_arm(arm(target="mujoco"))


def test_a_preset_of_ones_own_names_its_driver_itself(tmp_path):
    own = tmp_path / "mine.yaml"
    own.write_text(resource_path("config/robots/fr3.yaml").read_text())
    check_arm(arm(target="real", robot=str(own)))


def test_a_driver_that_there_is_not_is_refused_by_name():
    with pytest.raises(InvalidArgument, match=r"driver:=frank is not possible.*franka_ros2"):
        check_arm(arm(target="real", driver="frank"))
