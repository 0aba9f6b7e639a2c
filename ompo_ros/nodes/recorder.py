"""Records the topics of a run as MCAP files in the run's folder.

Messages are taken as bytes, without decoding, and many at a time: hundreds per second cost little.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from ompo_msgs.msg import PolicyArtifact
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.subscription import Subscription

from ompo_ros.nodes.parameters import RecorderParameters
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.polled import NeverReady
from ompo_ros.nodes.wire.process import STEADY, Finished, run
from ompo_ros.nodes.wire.robot_topics import topic_in
from ompo_ros.nodes.wire.run_end import end_with_run
from ompo_ros.nodes.wire.run_topics import RunTopic, kind_of, run_topics
from ompo_ros.policy.artifact import read_policy
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.recording import RecordingWriter, SizeLimits
from ompo_ros.recording.definitions import definition
from ompo_ros.recording.reader import FOLDER
from ompo_ros.recording.writer import COMMAND_TOPIC
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

_MB: Final = 10**6
_FLUSH_PERIOD: Final = 0.8  # s; a kill loses less than a second, also where the timer is a little late
_LOOK: Final = 0.1  # s between two calls of take
_GRACE: Final = 0.5  # s for the last messages of a run that has ended
_NICENESS: Final = 5  # control goes first


class Taken(NamedTuple):
    """A received message."""

    received: int  # ns
    sent: int
    topic: str
    kind: str
    data: bytes


class Recorder(Node):
    """Subscribes to all topics of a run; no sender waits for it."""

    def __init__(self) -> None:
        super().__init__("recorder", **OVERRIDES)
        given = declare(self, RecorderParameters)
        identity = Identity(self, given.run_id)
        robot = load_robot(given.robot, given.driver)
        contract = Task(given.task, given.reward).on(robot)
        commands = topic_in(given.robot_namespace, robot.driver.command_topic)
        self._policies: set[str] = set()  # checksums of policies whose manifest is written
        self._writer = RecordingWriter(
            Path(given.run_dir).expanduser() / FOLDER,
            {"run_id": given.run_id, "contract": contract.to_json(), COMMAND_TOPIC: self.resolve_topic_name(commands)},
            SizeLimits(given.split_size * _MB, given.max_size * _MB, given.keep_free * _MB),
            self.get_logger().warning,
        )
        group = NeverReady()
        self._heard = [self._subscribe(topic, group) for topic in run_topics(robot, given.robot_namespace)]
        end_with_run(self, identity)
        self.create_timer(_FLUSH_PERIOD, self._flush, clock=STEADY)
        self.get_logger().info(f"recording to {self._writer.path or 'nothing, for now'}")

    def _subscribe(self, topic: RunTopic, group: NeverReady) -> tuple[Subscription, str, str]:
        kind = kind_of(topic.type)
        definition(kind)  # a missing one is reported now, not at the first message
        subscription = self.create_subscription(
            topic.type, topic.name, _unused, topic.qos, callback_group=group, raw=True
        )
        return subscription, self.resolve_topic_name(topic.name), kind

    def take(self) -> None:
        """Write the messages received since the last call, in their order."""
        taken = [message for heard in self._heard for message in _take_all(*heard)]
        for message in sorted(taken, key=lambda one: one.received):
            data = self._without_weights(message.data) if message.kind == kind_of(PolicyArtifact) else message.data
            self._writer.write(message.topic, message.kind, data, message.received, message.sent)

    def _flush(self) -> None:
        self.take()
        self._writer.flush()

    def _without_weights(self, data: bytes) -> bytes:
        """Keep the manifest only: the registry has the weights, and a replay must not bring them to an arm."""
        policy = deserialize_message(data, PolicyArtifact)
        if policy.sha256 not in self._policies:
            try:
                manifest = read_policy(bytes(policy.onnx)).manifest.to_json()
            except RefusedPolicy as problem:
                manifest = ""
                self.get_logger().warning(f"policy {policy.version} is recorded without its manifest: {problem}")
            self._policies.add(policy.sha256)
            self._writer.note_policy({"version": str(policy.version), "sha256": policy.sha256, "manifest": manifest})
        policy.onnx, policy.signature = b"", b""
        return bytes(serialize_message(policy))

    def destroy_node(self) -> None:
        """Write the rest and the index of the file."""
        self.take()
        self._writer.close()
        super().destroy_node()


def _unused(_: bytes) -> None:
    """Never called: no executor has the subscription."""


def _take_all(subscription: Subscription, topic: str, kind: str) -> list[Taken]:
    taken: list[Taken] = []
    with subscription.handle:
        while (found := subscription.handle.take_message(subscription.msg_type, True)) is not None:
            data, info = found
            now = time.time_ns()
            taken.append(Taken(_time(info, "received", now), _time(info, "source", now), topic, kind, data))
    return taken


def _time(info: dict[str, Any], which: str, otherwise: int) -> int:
    """A time of the middleware, if it reports one."""
    return int(info.get(f"{which}_timestamp") or otherwise)


def turn(node: Recorder, executor: SingleThreadedExecutor) -> None:
    """Take messages ten times a second."""
    try:
        executor.spin_once(timeout_sec=_LOOK)
        node.take()
    except Finished:
        time.sleep(_GRACE)
        raise


def main() -> None:
    """Record until the run ends, or until stopped."""
    os.nice(_NICENESS)
    run(Recorder, turn)


if __name__ == "__main__":
    main()
