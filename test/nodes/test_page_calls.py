"""What a press on the page asks an arm node of its run for."""

import launch_pytest
import pytest
from graphs import graph_of, node
from probe import Probe

from ompo_ros.monitor.press import Act, Press
from ompo_ros.monitor.run_state import RunState
from ompo_ros.nodes.page_calls import PageCalls


@launch_pytest.fixture
def arm(ros_domain):
    return graph_of(node("policy_controller", run_id="ours"))


@pytest.fixture
def lab(ros_domain):
    lab = Probe(namespace="ompo")
    yield lab
    lab.close()


@pytest.mark.launch(fixture=arm)
def test_a_person_may_enable_on_the_page_what_was_stopped(lab):
    run = RunState()
    page = PageCalls(lab.node, run, "ours", "panda_link0")
    lab.spin_until(lambda: Act.ENABLE in page.available())
    for act, said in ((Act.STOP, "braking, then silent"), (Act.ENABLE, "enabled")):
        page.do(Press(act))
        lab.spin_until(lambda: run.answers)
        assert run.answers.pop().text == said
