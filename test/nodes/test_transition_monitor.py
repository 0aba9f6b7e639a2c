"""The monitor as a user starts it: `ros2 run`'s executable, over DDS, in a launch file."""

import time

import launch
import launch_pytest
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from graphs import PATIENT
from launch_ros.actions import Node as NodeAction
from ompo_msgs.msg import TransitionBatch

from ompo_ros.nodes.wire import qos


@pytest.fixture
def monitor():
    return NodeAction(
        package="ompo_ros",
        executable="transition_monitor",
        namespace="ompo",
        parameters=[{"period": 0.2}],
        output="screen",
        cached_output=True,
        **PATIENT,
    )


@launch_pytest.fixture
def graph(ros_domain, monitor):
    return launch.LaunchDescription([monitor, launch_pytest.actions.ReadyToTest()])


class Collector:
    """A collector's side of the topics, in the test's own process."""

    def __init__(self, probe) -> None:
        self.reports: list[dict[str, str]] = []
        self.levels: list[bytes] = []
        self.stamps: list[int] = []  # ns
        self.spin_until = probe.spin_until
        self.publisher = probe.node.create_publisher(TransitionBatch, "/ompo/source/transitions", qos.TRANSITIONS)
        probe.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)

    def _on_report(self, msg: DiagnosticArray) -> None:
        self.reports.append({entry.key: entry.value for entry in msg.status[0].values})
        self.levels.append(msg.status[0].level)
        self.stamps.append(msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec)


@pytest.fixture
def collector(probe):
    return Collector(probe)


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
        collector_id="test", session=1, sequence=sequence, count=2, obs_dim=1, act_dim=1, **{**fields, **changes}
    )


@pytest.mark.launch(fixture=graph)
def test_counts_what_came_what_was_lost_and_what_was_refused_and_ends_cleanly(collector, monitor):
    began = time.time_ns()
    collector.spin_until(lambda: collector.publisher.get_subscription_count() == 1 and collector.reports)
    for sequence in (0, 1, 4):
        collector.publisher.publish(small_batch(sequence))
    collector.publisher.publish(small_batch(5, reward=[float("nan"), 0.0]))
    expected = {"transitions": "6", "batches": "4", "lost_batches": "2", "refused_batches": "1", "collectors": "1"}
    collector.spin_until(lambda: expected.items() <= collector.reports[-1].items())

    collector.publisher.publish(small_batch(2**64 - 1))  # which no sender can reach
    wrong_stream = small_batch(6)
    wrong_stream.origin = TransitionBatch.TARGET
    collector.publisher.publish(wrong_stream)
    collector.publisher.publish(small_batch(6))
    expected |= {"transitions": "8", "batches": "7", "refused_batches": "3"}
    collector.spin_until(lambda: expected.items() <= collector.reports[-1].items(), hint=lambda: collector.reports[-1])

    assert (collector.levels[0], collector.levels[-1]) == (DiagnosticStatus.OK, DiagnosticStatus.WARN)
    assert began < collector.stamps[-2] < collector.stamps[-1] < time.time_ns()
    yield
    assert monitor.return_code == 0
