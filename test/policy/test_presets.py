"""Which policies may run on which robot preset."""

import dataclasses

import pytest
from example_policies import make

from ompo_ros.policy.errors import ContractMismatch
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import FAMILIES, Task

REACH = Task("reach", "dense")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_shipped_preset_runs_what_is_made_for_it(name):
    contract = REACH.on(load_robot(name))
    assert (contract.robot, contract.frame) == (name, f"{name}_link0")
    assert contract.action[6].name == f"increment.{name}_joint7"
    assert PolicyRuntime(make(contract=contract).onnx, contract).version == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"control_rate": 50.0}, "control_rate is 25.0 instead of 50.0"),
        ({"joint_names": tuple(reversed(load_robot("panda").joint_names))}, r"joint_names\[0\] is"),
        ({"joint_names": load_robot("fr3").joint_names}, "robot is 'panda' instead of 'fr3'"),
    ],
    ids=["rate", "order", "robot"],
)
def test_a_preset_that_differs_refuses_it(change, said):
    robot = dataclasses.replace(load_robot("panda"), **change)
    with pytest.raises(ContractMismatch, match=said):
        PolicyRuntime(make().onnx, REACH.on(robot))


def test_joints_of_an_unknown_arm_are_refused_by_its_name():
    robot = dataclasses.replace(load_robot("panda"), joint_names=tuple(f"ur5_joint{i}" for i in range(1, 8)))
    with pytest.raises(ValueError, match=r"'ur5_joint1'.*known: panda, fr3"):
        REACH.on(robot)


def test_the_default_contract_is_the_pandas():
    assert REACH.contract == REACH.on(load_robot("panda"))
