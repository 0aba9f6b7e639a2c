"""Sends transitions, numbered, so that a slow receiver loses none."""

from __future__ import annotations

import secrets
from collections import deque

from builtin_interfaces.msg import Time
from ompo_msgs.msg import TransitionBatch
from rclpy.node import Node

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_to_msg
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.onlookers import has_receiver
from ompo_ros.transitions import Transitions


class BatchPublisher:
    """Publishes in order; batches that do not fit into a full history wait here."""

    def __init__(self, node: Node, topic: str, identity: Identity) -> None:
        self._node, self._identity = node, identity
        self._session, self._sequence = secrets.randbits(63), 0
        self._waiting = deque[TransitionBatch]()
        self._publisher = node.create_publisher(TransitionBatch, topic, qos.TRANSITIONS)

    @property
    def is_heard(self) -> bool:
        """Whether there is a subscriber that uses the batches; one that only looks does not count."""
        return has_receiver(self._node, self._publisher)

    def send(self, transitions: Transitions, stamp: Time) -> None:
        """Send a batch after the waiting ones, or queue it behind them."""
        batch = transitions_to_msg(
            transitions,
            run_id=self._identity.run_id,
            collector_id=self._node.get_fully_qualified_name(),
            session=self._session,
            sequence=self._sequence,
            stamp=stamp,
        )
        self._sequence += 1
        self._waiting.append(batch)
        self.flush()

    def discard(self) -> int:
        """Drop the waiting batches, as if they had never been made; returns how many transitions they held."""
        dropped = sum(int(batch.count) for batch in self._waiting)
        self._sequence -= len(self._waiting)
        self._waiting.clear()
        return dropped

    def flush(self) -> bool:
        """Send the waiting batches; False if some remain."""
        while self._waiting:
            try:
                self._publisher.publish(self._waiting[0])
            except RuntimeError as error:  # of rclpy, after 0.1 s without space at the receivers
                self._node.get_logger().warning(
                    f"{len(self._waiting)} batches wait for a slow receiver of {self._publisher.topic}: {error}",
                    throttle_duration_sec=5.0,
                )
                return False
            self._waiting.popleft()
        return True
