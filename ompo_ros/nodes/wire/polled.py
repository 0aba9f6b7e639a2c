"""A topic of which only the newest message matters, and only now and then: nothing wakes up for the others."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

# Best effort hears every sender, and no sender ever waits for it.
_NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class NeverReady(CallbackGroup):
    """Keeps subscriptions out of the executor, which would wake up for each message."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        """Nothing began."""


class Polled:
    """A subscription that no executor looks at."""

    def __init__(self, node: Node, kind: type, topic: str) -> None:
        self._subscription = node.create_subscription(kind, topic, lambda _: None, _NEWEST, callback_group=NeverReady())

    def take(self) -> Any:  # noqa: ANN401 (generated types have no common one)
        """The newest message since the last call, or None."""
        subscription = self._subscription
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        return None if taken is None else taken[0]
