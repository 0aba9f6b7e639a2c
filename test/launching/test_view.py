"""Whether a launch shows a page: by its arguments, by who is at the terminal, by what is installed."""

import importlib.util
import sys

import pytest
from launch.actions import GroupAction, LogInfo
from launch_ros.actions import Node

from ompo_ros.launching import nodes
from ompo_ros.launching.arguments import ARGUMENTS
from ompo_ros.launching.view import page
from ompo_ros.resources import resource_path

HERE = {**{name: argument.default for name, argument in ARGUMENTS.items()}, "target": "mujoco", "params_file": ""}


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


@pytest.fixture
def bare(monkeypatch):
    """A machine without the page's packages."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None if name == "viser" else found(name))


def kinds(**arguments):
    return [type(action) for action in page({**HERE, **arguments})]


def test_a_page_is_shown_where_a_person_is_or_asks_for_it(terminal):
    assert kinds() == [GroupAction]
    assert kinds(view="false") == []
    assert kinds(role="target") == [GroupAction]
    assert kinds(role="learner") == [], "another machine knows the robot's topics"
    assert kinds(role="learner", view="true") == [GroupAction]


def test_a_launch_whose_output_goes_to_a_file_has_no_page_unless_asked_for(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert kinds() == []
    assert kinds(view="true") == [GroupAction]


def test_without_its_packages_a_page_that_was_asked_for_says_what_to_install(terminal, bare):
    with pytest.raises(RuntimeError, match="pip install viser mjviser"):
        page({**HERE, "view": "true"})
    assert kinds() == [LogInfo], "one that was not is no reason to fail"


@pytest.fixture
def given_to(monkeypatch, terminal, tmp_path):
    """Make all nodes of a run, start none, and give the parameters of each."""

    def parameters(**arguments):
        made = {}

        class Unstarted(Node):
            def __init__(self, *, name, parameters, **options):
                made[name] = parameters[0]
                super().__init__(name=name, parameters=parameters, **options)

        monkeypatch.setattr(nodes, "Node", Unstarted)
        values = {**HERE, "run_dir": str(tmp_path), "run_id": "r", **arguments}
        parts = ("learner", "sources", "recorder", "robot_sim", "target")
        nodes.rehearse([resource_path(f"launch/{part}.launch.py") for part in parts], values)
        page(values)
        return made

    return parameters


def test_the_stand_ins_domain_is_shown_on_the_page_and_hidden_from_all_that_learn(given_to):
    given = given_to(target="panda_gym", target_domain="creeping")
    assert given["monitor"]["target_domain"] == given["robot_sim"]["domain"] == "creeping"
    told = {name for name, parameters in given.items() if "creeping" in str(parameters)}
    assert told == {"robot_sim", "monitor", "run_manager"}, "the run manager reports it"
    assert {"learner", "identifier", "source_collector_0", "target_collector"} <= set(given)
    assert given_to(target="real", driver="crisp", target_domain="creeping")["monitor"]["target_domain"] == ""
