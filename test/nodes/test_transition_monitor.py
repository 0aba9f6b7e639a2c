"""The monitor as a user starts it: `ros2 run`'s executable, over DDS, in a launch file."""

import time

import launch
import launch_pytest
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from launch_pytest.tools import process as process_tools
from launch_ros.actions import Node as NodeAction
from ompo_msgs.msg import TransitionBatch
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from ompo_ros.nodes import qos


@pytest.fixture
def monitor():
    return NodeAction(
        package="ompo_ros",
        executable="transition_monitor",
        namespace="ompo",
        parameters=[{"period": 0.2}],
        output="screen",
        cached_output=True,
    )


@launch_pytest.fixture
def graph(ros_domain, monitor):
    return launch.LaunchDescription([monitor, launch_pytest.actions.ReadyToTest()])


@pytest.fixture(params=[{"period": -1.0}, {"period": "soon"}, {"perod": 1.0}], ids=str)
def refused(request):
    return NodeAction(
        package="ompo_ros",
        executable="transition_monitor",
        parameters=[request.param],
        output="screen",
        cached_output=True,
    )


@launch_pytest.fixture
def refused_graph(ros_domain, refused):
    return launch.LaunchDescription([refused, launch_pytest.actions.ReadyToTest()])


class Probe:
    """A collector's side of the topics, in the test's own process."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = Node("probe", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.reports: list[dict[str, str]] = []
        self.levels: list[bytes] = []
        self.publisher = self.node.create_publisher(TransitionBatch, "/ompo/source/transitions", qos.TRANSITIONS)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)

    def _on_report(self, msg: DiagnosticArray) -> None:
        self.reports.append({entry.key: entry.value for entry in msg.status[0].values})
        self.levels.append(msg.status[0].level)

    def spin_until(self, condition) -> None:
        deadline = time.monotonic() + 30
        while not condition() and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.1)
        assert condition(), f"reports so far: {self.reports[-3:]}"

    def close(self) -> None:
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def probe(ros_domain):
    probe = Probe()
    yield probe
    probe.close()


def small_batch(sequence: int, **changes) -> TransitionBatch:
    fields = {
        "obs": [0.0, 0.0],
        "action": [0.0, 0.0],
        "reward": [0.0, 0.0],
        "next_obs": [0.0, 0.0],
        "terminated": b"\0\0",
        "truncated": b"\0\1",
        "step": [0, 1],
        "policy_version": [0, 0],
        "domain_id": [0, 0],
    }
    return TransitionBatch(
        collector_id="test", run=1, sequence=sequence, count=2, obs_dim=1, act_dim=1, **{**fields, **changes}
    )


@pytest.mark.launch(fixture=graph)
def test_counts_what_came_what_was_lost_and_what_was_refused(probe):
    probe.spin_until(lambda: probe.publisher.get_subscription_count() == 1 and probe.reports)
    for sequence in (0, 1, 4):
        probe.publisher.publish(small_batch(sequence))
    probe.publisher.publish(small_batch(5, reward=[float("nan"), 0.0]))
    expected = {"transitions": "6", "batches": "3", "lost_batches": "2", "refused_batches": "1", "collectors": "1"}
    probe.spin_until(lambda: expected.items() <= probe.reports[-1].items())
    assert probe.levels[0] == DiagnosticStatus.OK
    assert probe.levels[-1] == DiagnosticStatus.WARN


@pytest.mark.launch(fixture=refused_graph)
def test_a_wrong_parameter_is_refused_by_its_name(launch_context, refused):
    assert process_tools.wait_for_exit_sync(launch_context, refused, timeout=20)
    assert refused.return_code == 2
    process_tools.assert_stderr_sync(launch_context, refused, lambda text: "period" in text, timeout=5)


@pytest.mark.launch(fixture=graph)
def test_ends_cleanly_when_asked(launch_context, monitor, probe):
    probe.spin_until(lambda: probe.publisher.get_subscription_count() == 1)
    yield
    assert monitor.return_code == 0
