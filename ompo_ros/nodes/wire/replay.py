"""Plays a recording on its topics, but only where no robot and no run is connected."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from ompo_ros.nodes.wire.onlookers import ONLOOKERS, UNNAMED
from ompo_ros.nodes.wire.run_topics import DIAGNOSTICS, is_latched
from ompo_ros.recording.reader import Recording
from ompo_ros.resources import resource_path

NAME: Final = "ompo_replay"
_ELSEWHERE: Final = "play it with a ROS_DOMAIN_ID of its own"
_SETTLE: Final = 5.0  # s for the discovery of robots and runs
_NAMING: Final = 10.0  # s for the discovery of a node's name
_LOOK_PERIOD: Final = 1.0  # s between two checks


class NotAlone(RuntimeError):
    """A robot or a run is on the graph, where nothing may be played; the message names it."""


class Replay:
    """Publishes recorded messages as they were, at their own pace times a factor; 0: as fast as possible."""

    def __init__(self, recordings: Sequence[Recording], speed: float) -> None:
        self._recordings, self._speed = recordings, speed
        self._kinds: dict[str, str] = {}
        self._commands: set[str] = set()  # topics
        for recording in recordings:
            for message in recording.messages():
                self._kinds[message.topic] = message.kind
                if recording.may_move_an_arm(message):
                    self._commands.add(message.topic)
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        os.environ.setdefault("FASTRTPS_DEFAULT_PROFILES_FILE", str(resource_path("config/fastdds.xml")))
        rclpy.init()
        self._node = Node(NAME, start_parameter_services=False)
        self._next_look = 0.0

    def play(self) -> int:
        """Play all messages in order and return their number; NotAlone ends it."""
        self._wait_until(time.monotonic() + _SETTLE)
        publishers = {
            topic: self._node.create_publisher(_message_class(kind), topic, _qos(topic, kind))
            for topic, kind in self._kinds.items()
        }
        played, began, first = 0, time.monotonic(), 0
        for message in (message for recording in self._recordings for message in recording.messages()):
            first = first or message.received
            elapsed = (message.received - first) * 1e-9
            self._wait_until(began + elapsed / self._speed if self._speed else began)
            publishers[message.topic].publish(message.data)
            played += 1
        return played

    def close(self) -> None:
        """Leave the graph."""
        self._node.destroy_node()
        rclpy.try_shutdown()

    def _wait_until(self, due: float) -> None:
        """Sleep until then, and check once a period that no robot and no run has joined."""
        while True:
            now = time.monotonic()
            if now >= self._next_look:
                self._next_look = now + _LOOK_PERIOD
                self._require_alone()
            if now >= due:
                return
            time.sleep(max(0.0, min(due, self._next_look) - now))

    def _require_alone(self) -> None:
        for topic in self._kinds:
            senders = _names(partial(self._node.get_publishers_info_by_topic, topic)) - {NAME}
            if senders and topic != DIAGNOSTICS:
                raise NotAlone(f"{senders.pop()} publishes {topic}: a robot or a run is here, {_ELSEWHERE}")
            if topic in self._commands:
                hearers = _names(partial(self._node.get_subscriptions_info_by_topic, topic))
                if moving := hearers - ONLOOKERS:
                    raise NotAlone(f"{moving.pop()} hears commands on {topic} and may move an arm, {_ELSEWHERE}")


def _names(ask: Callable[[], list[Any]]) -> set[str]:
    """The nodes of these endpoints; playing waits until their names are discovered."""
    deadline = time.monotonic() + _NAMING
    names = {info.node_name for info in ask()}
    while UNNAMED in names and time.monotonic() < deadline:
        time.sleep(0.05)
        names = {info.node_name for info in ask()}
    return names


def _message_class(kind: str) -> Any:  # noqa: ANN401 - generated types have no common one
    package, _, name = kind.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def _qos(topic: str, kind: str) -> QoSProfile:
    if is_latched(topic, kind):
        return QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    return QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
