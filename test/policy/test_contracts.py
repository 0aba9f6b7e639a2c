"""Which policies may run on which robot preset."""

import dataclasses

import pytest
from example_policies import make

from ompo_ros.control.robot import load_robot
from ompo_ros.domains.tasks import Task
from ompo_ros.policy.contracts import ROBOTS, contract_for, contract_on
from ompo_ros.policy.errors import ContractMismatch
from ompo_ros.policy.runtime import PolicyRuntime

REACH = Task("reach", "dense")


@pytest.mark.parametrize("name", ROBOTS)
def test_a_shipped_preset_runs_what_is_made_for_it(name):
    contract = contract_on(load_robot(name), REACH)
    assert contract == contract_for("reach", "dense", name)
    assert PolicyRuntime(make(contract=contract).onnx, contract).version == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"control_rate": 50.0}, "another control_rate: 25.0, here 50.0"),
        ({"joint_names": tuple(reversed(load_robot("panda").joint_names))}, "another joint_names: entry 0"),
        ({"joint_names": load_robot("fr3").joint_names}, "another robot: panda, here fr3"),
    ],
    ids=["rate", "order", "robot"],
)
def test_a_preset_that_differs_refuses_it(change, said):
    robot = dataclasses.replace(load_robot("panda"), **change)
    with pytest.raises(ContractMismatch, match=said):
        PolicyRuntime(make().onnx, contract_on(robot, REACH))


def test_joints_of_an_unknown_arm_are_refused_by_its_name():
    robot = dataclasses.replace(load_robot("panda"), joint_names=tuple(f"ur5_joint{i}" for i in range(1, 8)))
    with pytest.raises(ValueError, match="robot 'ur5' is unknown, choose panda or fr3"):
        contract_on(robot, REACH)
