"""What users meet of every node's parameters: `ros2 param describe`, docs/parameters.md, and refusals."""

import importlib.util
from pathlib import Path

import pytest
import rclpy
from rclpy.parameter import Parameter

from ompo_ros.nodes.identifier import Identifier
from ompo_ros.nodes.learner import Learner
from ompo_ros.nodes.policy_controller import PolicyController
from ompo_ros.nodes.policy_server import PolicyServer
from ompo_ros.nodes.robot_sim import RobotSim
from ompo_ros.nodes.run_manager import RunManager
from ompo_ros.nodes.source_collector import SourceCollector
from ompo_ros.nodes.target_collector import TargetCollector
from ompo_ros.nodes.transition_monitor import TransitionMonitor
from ompo_ros.nodes.wire.only_one import default_name
from ompo_ros.parameters import parameters_of

SPEC = importlib.util.spec_from_file_location(
    "parameters_page", Path(__file__).parents[2] / "tools" / "parameters_page.py"
)
parameters_page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(parameters_page)

KINDS = {
    default_name(kind.__name__): kind
    for kind in (
        Identifier,
        Learner,
        PolicyController,
        PolicyServer,
        RobotSim,
        RunManager,
        SourceCollector,
        TargetCollector,
        TransitionMonitor,
    )
}
NUMBERS = {Parameter.Type.INTEGER.value, Parameter.Type.DOUBLE.value}


@pytest.fixture
def make(tmp_path, monkeypatch, ros_domain):
    """Make a node by its name, with parameters as a user gives them."""
    monkeypatch.chdir(tmp_path)
    made = []

    def make_node(name, **given):
        given = {"registry_dir": tmp_path, **given} if name == "policy_server" else given
        arguments = [word for key, value in given.items() for word in ("-p", f"{key}:={value}")]
        rclpy.init(args=["--ros-args", *arguments] if arguments else None)
        made.append(KINDS[name]())
        return made[-1]

    yield make_node
    for node in made:
        node.destroy_node()
    rclpy.try_shutdown()


def test_every_node_declares_what_the_page_lists():
    assert set(KINDS) == set(parameters_page.NODES)


@pytest.mark.parametrize("name", KINDS)
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
    with pytest.raises(ValueError, match=r"unknown parameter\(s\) sped; this node has: "):
        make(name, sped=1)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("robot_sim", {"task": "fly"}, "'fly' is not one of reach, push"),
        ("robot_sim", {"publish_rate": 333.0}, "333 does not divide"),
        ("learner", {"learning.discount": 1.5}, "discount"),
        ("source_collector", {"arms": 0}, "arms"),
        ("transition_monitor", {"period": "often"}, "period"),
        ("policy_controller", {"goal": "[0.5, 0.0]"}, "goal"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(name, given, said, make):
    with pytest.raises(Exception, match=said):
        make(name, **given)


def test_the_page_is_what_the_nodes_declare():
    assert parameters_page.PAGE.read_text() == parameters_page.page(), "run tools/parameters_page.py"
