"""A thousand full batches to another process and back: none lost, none altered."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import launch
import launch_pytest
import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from graphs import PATIENT
from launch.actions import ExecuteProcess
from ompo_msgs.msg import TransitionBatch
from rclpy.node import Node
from waiting import PATIENCE

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_from_msg, transitions_to_msg
from ompo_ros.nodes.wire.streams import StreamCounts
from ompo_ros.transitions import Origin, Transitions

BATCHES, SIZE, OBS_DIM, ACT_DIM = 1000, 256, 20, 7


@launch_pytest.fixture
def echo(ros_domain):
    script = Path(__file__).parents[2] / "support" / "echo_transitions.py"
    process = ExecuteProcess(cmd=[sys.executable, str(script)], output="screen", **PATIENT)
    return launch.LaunchDescription([process, launch_pytest.actions.ReadyToTest()])


def batch(sequence: int) -> Transitions:
    """Different in every bit from one batch to the next, and known from its number alone."""
    rng = np.random.default_rng(sequence)
    return Transitions(
        origin=Origin.SOURCE,
        obs=rng.standard_normal((SIZE, OBS_DIM), dtype=np.float32),
        action=rng.standard_normal((SIZE, ACT_DIM), dtype=np.float32),
        reward=rng.standard_normal(SIZE, dtype=np.float32),
        next_obs=rng.standard_normal((SIZE, OBS_DIM), dtype=np.float32),
        terminated=rng.random(SIZE) < 0.1,
        truncated=rng.random(SIZE) < 0.1,
        step=rng.integers(0, 100, SIZE, dtype=np.uint32),
        policy_version=rng.integers(0, 100, SIZE, dtype=np.uint32),
        domain_id=rng.integers(0, 100, SIZE, dtype=np.uint32),
    )


@pytest.fixture
def node(ros_domain) -> Iterator[Node]:
    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("round_trip", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


@pytest.mark.launch(fixture=echo)
def test_a_thousand_batches_come_back_as_they_went(node):
    counts, altered, connected = StreamCounts(), [], []

    def compare(msg: TransitionBatch) -> None:
        if msg.collector_id == "first":
            connected.append(True)
            return
        counts.count(msg.collector_id, msg.session, msg.sequence)
        sent, received = batch(msg.sequence), transitions_from_msg(msg)
        fields = set(vars(sent)) - {"origin"}
        equal = all(np.array_equal(getattr(sent, field), getattr(received, field)) for field in fields)
        if not equal or received.origin != sent.origin:
            altered.append(msg.sequence)

    publisher = node.create_publisher(TransitionBatch, "source/transitions", qos.TRANSITIONS)
    subscription = node.create_subscription(TransitionBatch, "target/transitions", compare, qos.TRANSITIONS)
    executor = rclpy.executors.SingleThreadedExecutor(context=node.context)
    executor.add_node(node)

    def spin_until(condition) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
        assert condition(), f"{counts.received} of {BATCHES} batches came back"

    def answered() -> bool:
        """Both ways are open only once something came back: an endpoint that is seen need not see us yet."""
        publisher.publish(transitions_to_msg(batch(0), collector_id="first", session=1, sequence=0, stamp=Time()))
        return bool(connected)

    spin_until(answered)
    for sequence in range(BATCHES):
        msg = transitions_to_msg(batch(sequence), collector_id="test", session=1, sequence=sequence, stamp=Time())
        publisher.publish(msg)
        executor.spin_once(timeout_sec=0)
    spin_until(lambda: counts.received == BATCHES)
    assert counts.lost == 0
    assert altered == []
    node.destroy_subscription(subscription)
