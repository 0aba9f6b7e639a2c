"""The run manager beside a real collector: its evaluations, its wait for a policy, and what it leaves when killed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading

import launch_pytest
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import LearnerStatus, PolicyArtifact
from ompo_msgs.srv import JudgePolicy
from probe import Probe
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from shipped_policy import shipped_policy
from waiting import PATIENCE

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg


@pytest.fixture
def manager(tmp_path):
    return node("run_manager", run_dir=str(tmp_path), episodes_before=0, episodes_after=2)


@pytest.fixture
def collector():
    return node("target_collector", lockstep=True, enabled=False)


@launch_pytest.fixture
def graph(ros_domain, collector, manager):
    return graph_of(node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=0.0), collector, manager)


class Learner(Probe):
    """What the run manager hears of learner and policy server."""

    def __init__(self) -> None:
        super().__init__(namespace="ompo")
        self.policies = self.node.create_publisher(PolicyArtifact, "policy/latest", qos.LATCHED)
        self.statuses = self.node.create_publisher(LearnerStatus, "status", qos.LATCHED)
        self.status = LearnerStatus(state=LearnerStatus.TRAINING, policy_version=3)
        self.judged: list[JudgePolicy.Request] = []
        self.loses = 0  # so many first answers
        group = ReentrantCallbackGroup()  # a call that is never answered keeps no other one waiting
        self.node.create_service(JudgePolicy, "policy_server/judge_policy", self._judge, callback_group=group)

    async def _judge(self, request: JudgePolicy.Request, response: JudgePolicy.Response) -> JudgePolicy.Response:
        self.judged.append(request)
        if len(self.judged) <= self.loses:
            await Future()
        response.success = response.stable = True
        response.message = "all episodes succeed"
        return response

    def publish_policy(self) -> None:
        self.policies.publish(artifact_to_msg(shipped_policy(3).onnx, version=3))

    def report_until(self, condition) -> None:
        """Publish status after status, each a step further."""

        def next_status_and_condition() -> bool:
            self.status.target_steps += 1
            self.statuses.publish(self.status)
            return condition()

        self.spin_until(next_status_and_condition)


@pytest.fixture
def learner(ros_domain):
    learner = Learner()
    yield learner
    learner.close()


def wait_for_line(launch_context, process, line) -> bool:
    return process_tools.wait_for_stderr_sync(launch_context, process, lambda text: line in text, timeout=PATIENCE)


def lines_of(path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@contextlib.contextmanager
def alive(learner):
    """Repeat the status, as a learner does: the collector holds without."""
    ended = threading.Event()

    def repeat():
        while not ended.wait(1.0):
            learner.statuses.publish(learner.status)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.launch(fixture=graph)
def test_it_waits_for_a_policy_and_asks_again_for_an_evaluation_that_was_refused(
    learner, collector, manager, launch_context, tmp_path
):
    learner.loses = 1
    with alive(learner):
        wait_for_a_policy(learner, collector, manager, launch_context, tmp_path)
        be_refused_and_ask_again(learner, manager, launch_context)
    assert manager.return_code == 0
    assert [(r.version, r.episodes, r.successes) for r in learner.judged] == [(3, 2, 2)] * 2, "one answer was lost"
    report = (tmp_path / "report.md").read_text()
    assert "| after | 100% of 2 episodes" in report
    assert "Policy 3 is stable: all episodes succeed." in report


def wait_for_a_policy(learner, collector, manager, launch_context, tmp_path):
    """No arm is enabled without one, and no run begins."""
    reports = learner.listen(DiagnosticArray, "/diagnostics", 10)
    learner.statuses.publish(learner.status)
    assert wait_for_line(launch_context, manager, "waiting for a policy")
    learner.wait_for_more(reports, 2)
    assert "as asked by ~/set_enabled" not in collector.get_stderr()
    assert list(tmp_path.iterdir()) == [], "it wrote of a run that has not begun"
    learner.publish_policy()
    assert wait_for_line(launch_context, collector, "as asked by ~/set_enabled")


def be_refused_and_ask_again(learner, manager, launch_context):
    assert wait_for_line(launch_context, manager, "before: not evaluated")
    gate = ActionClient(learner.node, Evaluate, "target_collector/evaluate")
    learner.spin_until(gate.server_is_ready)
    asked = []

    def accepts_ours():
        """Refused until the collector has loaded the policy."""
        answer = gate.send_goal_async(Evaluate.Goal(episodes=10_000))
        learner.spin_until(answer.done)
        asked.append(answer.result())
        return asked[-1].accepted

    learner.spin_until(accepts_ours)
    learner.status.state = LearnerStatus.FINISHED
    learner.statuses.publish(learner.status)
    assert wait_for_line(launch_context, manager, "evaluation failed")
    learner.spin_until(asked[-1].cancel_goal_async().done)
    learner.spin_until(lambda: len(learner.judged) > learner.loses)
    assert process_tools.wait_for_exit_sync(launch_context, manager, timeout=PATIENCE)


@pytest.mark.launch(fixture=graph)
def test_the_arm_holds_for_a_paused_learner_and_waits_for_one_that_is_behind(
    learner, collector, launch_context, tmp_path
):
    episodes = tmp_path / "episodes.csv"
    steps = []

    def note(report: DiagnosticArray) -> None:
        for status in report.status:
            steps.extend(entry.value for entry in status.values if entry.key == "target_steps")

    learner.node.create_subscription(DiagnosticArray, "/diagnostics", note, 10)
    learner.publish_policy()
    learner.report_until(lambda: len(lines_of(episodes)) > 2)
    learner.status.state = LearnerStatus.PAUSED
    with alive(learner):
        assert wait_for_line(launch_context, collector, "holding: the learner is paused")
        learner.spin_until(lambda: len(set(steps[-6:])) == 1 and len(steps) > 6)
        learner.status.state, learner.status.behind = LearnerStatus.TRAINING, True
        assert wait_for_line(launch_context, collector, "recovered: homing")
        steps.clear()  # a real arm would play an episode every few seconds
        learner.spin_until(lambda: len(set(steps[-6:])) == 1 and len(steps) > 6)
        learner.status.behind = False
        learner.spin_until(lambda: len(set(steps[-3:])) > 1)


@pytest.mark.launch(fixture=graph)
def test_a_killed_run_manager_leaves_what_it_knew_and_the_next_goes_on(learner, manager, launch_context, tmp_path):
    metrics, episodes = tmp_path / "metrics.csv", tmp_path / "episodes.csv"
    learner.publish_policy()
    learner.report_until(lambda: len(lines_of(metrics)) > 5 and len(lines_of(episodes)) > 3)
    os.kill(manager.process_details["pid"], signal.SIGKILL)
    assert process_tools.wait_for_exit_sync(launch_context, manager, timeout=PATIENCE)
    known, played = lines_of(metrics), lines_of(episodes)

    command = [sys.executable, "-m", "ompo_ros.nodes.run_manager", "--ros-args", "-r", "__ns:=/ompo"]
    following = subprocess.Popen([*command, "-p", f"run_dir:={tmp_path}", "-p", "episodes_before:=0"])
    try:
        learner.report_until(lambda: len(lines_of(metrics)) > len(known))
    finally:
        following.terminate()
        assert following.wait(PATIENCE) == 0
    assert lines_of(metrics)[: len(known)] == known
    assert lines_of(episodes)[: len(played)] == played
    counted = re.findall(r" in (\d+) episodes \((\d+) dropped\)", (tmp_path / "report.md").read_text())
    assert sum(map(int, counted[0])) == len(lines_of(episodes)) - 1


@pytest.mark.launch(fixture=graph)
def test_a_file_that_cannot_be_written_is_reported_and_the_run_goes_on(learner, manager, launch_context, tmp_path):
    (tmp_path / "metrics.csv").symlink_to(tmp_path / "no_such_folder" / "metrics.csv")
    learner.publish_policy()
    learner.report_until(lambda: len(lines_of(tmp_path / "episodes.csv")) > 2)
    assert wait_for_line(launch_context, manager, f"cannot write to {tmp_path}")
    learner.status.state = LearnerStatus.FINISHED
    learner.statuses.publish(learner.status)
    learner.spin_until(lambda: learner.judged)
    assert process_tools.wait_for_exit_sync(launch_context, manager, timeout=PATIENCE)
    assert manager.return_code == 0
    assert "| after | 100% of 2 episodes" in (tmp_path / "report.md").read_text()


@pytest.mark.launch(fixture=graph)
def test_a_learner_that_does_not_know_how_many_updates_are_due_ends_no_run(learner, tmp_path):
    learner.publish_policy()
    learner.status.metric_names = ["updates_due"]
    for due in (float("nan"), float("inf"), -1.0):
        learner.status.metric_values = [due]
        enough = len(lines_of(tmp_path / "metrics.csv")) + 3
        learner.report_until(lambda enough=enough: len(lines_of(tmp_path / "metrics.csv")) >= enough)
