"""Whether a launch shows a page: by its arguments, by who is at the terminal, by what is installed."""

import importlib.util
import sys

import pytest
from launch.actions import GroupAction, LogInfo

from ompo_ros.launching.arguments import ARGUMENTS
from ompo_ros.launching.view import page

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
