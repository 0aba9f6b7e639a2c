"""What the nodes' tests share."""

import pytest
import rclpy
from probe import Probe


@pytest.fixture
def probe(ros_domain):
    probe = Probe()
    yield probe
    probe.close()


@pytest.fixture
def make(tmp_path, monkeypatch, ros_domain):
    """Make one node in the test's process, by its name and with parameters as a user gives them."""
    from in_process import make_node  # loads every node, and torch with the learner

    monkeypatch.chdir(tmp_path)
    made = []

    def make_one(name, **given):
        given = {"registry_dir": tmp_path, **given} if name == "policy_server" else given
        made.append(make_node(name, **given))
        return made[-1]

    yield make_one
    for node in made:
        node.destroy_node()
    rclpy.try_shutdown()
