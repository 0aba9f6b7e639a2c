"""A person's run in a real browser, with real nodes in lockstep: what is pressed there happens on the arm."""

import os
import re
import signal

import launch_pytest
import numpy as np
import pytest
from browser import Person, browser, require_browser
from collector_peer import ROBOT, robot_sim
from diagnostic_msgs.msg import DiagnosticArray
from example_policies import make
from geometry_msgs.msg import PointStamped
from graphs import graph_of, node
from learner_peer import settings
from ompo_msgs.msg import EpisodeSummary
from ompo_msgs.srv import ListPolicies
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from waiting import wait_until

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import STABLE
from ompo_ros.task.tasks import Task

pytestmark = pytest.mark.xdist_group("browser")
AT_REST = 0.01  # rad/s


@pytest.fixture(autouse=True)
def _browser_is_there():
    require_browser()


@pytest.fixture
def monitor():
    return node("monitor", port=0, target_steps=500)


@launch_pytest.fixture
def adapting(ros_domain, tmp_path, monitor):
    registry = Registry(tmp_path / "policies")
    for version in (101, 102):
        registry.add(make(version), "proven", channel=STABLE)
    registry.close()
    return graph_of(
        robot_sim(),
        node("target_collector", enabled=True, lockstep=True),
        node("policy_server", registry_dir=str(tmp_path / "policies"), gate=False),
        node("learner", **settings(tmp_path / "run", warmup=100_000)),
        monitor,
    )


@launch_pytest.fixture
def deploying(ros_domain, tmp_path, monitor):
    file = tmp_path / "policy.onnx"
    file.write_bytes(make(7).onnx)
    return graph_of(robot_sim(), node("policy_controller", policy=str(file), lockstep=True), monitor)


def address_of(monitor) -> str:
    found = lambda: re.search(r"The run in a browser: (http://\S+)", monitor.get_stdout())  # noqa: E731
    wait_until(found, "the page's address")
    return found()[1]


@pytest.mark.slow
@pytest.mark.launch(fixture=adapting)
def test_a_person_pauses_rolls_back_and_stops_a_run(probe, monitor):
    states = probe.listen(JointState, "/ompo/joint_states", STATES)
    commands = probe.listen(Float64MultiArray, f"/ompo/{ROBOT.driver.command_topic}", COMMANDS)
    reports = probe.listen(DiagnosticArray, "/diagnostics", 10)
    episodes = probe.listen(EpisodeSummary, "/ompo/target/episodes", qos.EPISODES)
    with browser() as chromium:
        person = Person(chromium, address_of(monitor))
        person.sees("arm: playing an episode")
        person.press("Pause learning")
        person.sees("learning is paused")
        person.press("Resume learning")
        person.sees("resume: training")
        person.open_tab("Policies", with_button="Roll back")
        person.sees("102 stable")
        person.press("Roll back")
        person.sees("stable moved to policy 101 and held there")
        person.sees("101 stable pinned")
        listed = probe.call(ListPolicies, "/ompo/policy_server/list_policies", ListPolicies.Request()).policies
        assert [policy.version for policy in listed if "stable" in policy.channels] == [101]
        person.page.keyboard.press("Escape")
        person.sees("braking, then silent")
        probe.wait_for_silence(commands, reports)
        probe.wait_for_more(states)
        probe.spin_until(lambda: np.abs(states[-1].velocity).max() < AT_REST)
        person.open_tab("Run", with_button="Enable")
        person.press("Enable")
        person.sees("enable: enabled")
        os.kill(monitor.process_details["pid"], signal.SIGKILL)
        person.sees("The page's node is gone")
    probe.wait_for_more(episodes)  # the run goes on without its page


@pytest.mark.slow
@pytest.mark.launch(fixture=adapting)
def test_a_person_sees_the_arm_of_a_run_move(monitor):
    with browser() as chromium:
        person = Person(chromium, address_of(monitor))
        person.sees("arm: playing an episode")
        person.sees_motion()


@pytest.mark.slow
@pytest.mark.launch(fixture=deploying)
def test_a_person_clicks_where_the_arm_is_to_go(probe, monitor):
    goals = probe.listen(PointStamped, "/ompo/target/goal", qos.LATCHED)
    low, high = Task("reach", "dense").goal_box
    with browser() as chromium:
        person = Person(chromium, address_of(monitor))
        person.sees("disabled")
        person.press("Click a goal")
        person.sees("click where the arm should go")
        person.click_scene(0.6, 0.6)
        person.sees("goal: sent: ")
        probe.spin_until(lambda: goals and abs(goals[-1].point.y) > 1e-3)  # the first one is in the middle
    goal = np.array([goals[-1].point.x, goals[-1].point.y, goals[-1].point.z])
    assert ((low <= goal + 1e-6) & (goal - 1e-6 <= high)).all()
    assert goal[2] == pytest.approx(0.15), "at the height that the slider has"
