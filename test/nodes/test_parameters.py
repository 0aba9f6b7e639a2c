"""What users meet of every node's parameters: `ros2 param describe`, docs/parameters.md, and refusals."""

import importlib.util
from pathlib import Path

import pytest
from in_process import KINDS, NEED_A_ROBOT
from rclpy.parameter import Parameter

from ompo_ros.parameters import parameters_of

SPEC = importlib.util.spec_from_file_location(
    "parameters_page", Path(__file__).parents[2] / "tools" / "parameters_page.py"
)
parameters_page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(parameters_page)

NUMBERS = {Parameter.Type.INTEGER.value, Parameter.Type.DOUBLE.value}


def test_every_node_declares_what_the_page_lists():
    assert set(KINDS) == set(parameters_page.NODES)


@pytest.mark.parametrize("name", sorted(set(KINDS) - NEED_A_ROBOT))
def test_every_parameter_has_a_sentence_and_every_number_a_range(name, make):
    node = make(name)
    names = [declared.name for declared in parameters_of(parameters_page.NODES[name])]
    for described in node.describe_parameters(names):
        assert described.read_only
        assert described.description.endswith(".") or described.name.startswith("learning."), described.name
        if described.type in NUMBERS and "one of" not in described.additional_constraints:
            assert [*described.integer_range, *described.floating_point_range], f"{described.name} has no range"


@pytest.mark.parametrize("name", KINDS)
def test_a_misspelt_name_is_refused_with_those_there_are(name, make):
    with pytest.raises(ValueError, match=r"unknown parameter 'sped'; (known|did you mean)"):
        make(name, sped=1)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("robot_sim", {"task": "fly"}, "'fly' is not one of reach, push"),
        ("robot_sim", {"publish_rate": 333.0}, "333 does not divide"),
        ("robot_sim", {"real_time_factor": -1.0}, "real_time_factor"),
        ("robot_sim", {"simulator": "gazebo"}, "gazebo"),
        ("robot_sim", {"domain": "nowhere"}, "nowhere"),
        ("robot_sim", {"robot": "atlas"}, "atlas"),
        ("robot_sim", {"driver": "rosserial"}, "rosserial"),
        ("learner", {"learning.discount": 1.5}, "learning.discount"),
        ("target_collector", {"scripted_episodes": 1}, "no script demonstrates reach, only push"),
        ("learner", {"learning.q": 3.0}, "learning.q"),
        ("learner", {"learning.algorithm": "magic"}, "is not one of ompo, sac"),
        ("learner", {"pretrained": "nothing"}, "nothing was not found"),
        ("learner", {"warm_start": "nowhere.mcap"}, "there is no nowhere.mcap"),
        ("recorder", {"driver": "rosserial"}, "rosserial"),
        ("recorder", {"split_size": 0}, "split_size"),
        ("source_collector", {"arms": 0}, "arms"),
        ("policy_server", {"task": "fly"}, "'fly' is not one of reach, push"),
        ("policy_server", {"keep": 0}, "keep"),
        ("policy_server", {"registry_dir": "/dev/null/no"}, "registry_dir"),
        ("transition_monitor", {"period": "often"}, "period"),
        ("transition_monitor", {"period": -1.0}, "period"),
        ("policy_controller", {"goal": "[0.5, 0.0]"}, "goal"),
        ("fci_driver", {}, "robot_ip: is needed"),
        ("fci_driver", {"robot_ip": "127.0.0.1", "joint_impedance": "[3000.0]"}, "joint_impedance: 7 finite numbers"),
        ("fci_driver", {"robot_ip": "127.0.0.1", "driver": "franka_ros2"}, "choose one with forward_command"),
        ("franka_sim", {"robot_ip": "192.168.0.1"}, "robot_ip: '192.168.0.1' is not an address of this machine"),
        ("franka_sim", {"domain": "creeping"}, "'creeping' sets action_bias, action_noise, which franka_sim cannot"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(name, given, said, make):
    with pytest.raises(Exception, match=said):
        make(name, **given)


def test_the_page_is_what_the_nodes_declare():
    assert parameters_page.PAGE.read_text() == parameters_page.page(), "run tools/parameters_page.py"
