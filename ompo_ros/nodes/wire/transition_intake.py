"""Receives transition streams: batches are checked and counted before they are passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ompo_msgs.msg import TransitionBatch
from rclpy.node import Node

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_from_msg
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.streams import StreamCounts
from ompo_ros.transitions import InvalidData, Origin, Transitions

_SHOWN = 64  # characters of a sender's name in the log
_QUIET = 5.0  # s between two warnings of a kind


class TransitionIntake:
    """Subscribes to all streams or some; `take` raises InvalidData for an unusable batch and changes nothing."""

    def __init__(
        self,
        node: Node,
        take: Callable[[Transitions], None],
        identity: Identity | None = None,
        origins: Iterable[Origin] = Origin,
    ) -> None:
        """Accept all runs, or only that of an `identity`."""
        self._log, self._take = node.get_logger(), take
        self.counts = StreamCounts()
        self.received = 0  # batches, valid or not
        self.refused = 0
        for origin in origins:
            topic = f"{origin.name.lower()}/transitions"
            hear = partial(self._on_batch, origin)
            hear_ours = hear if identity is None else identity.only_ours(hear)
            node.create_subscription(TransitionBatch, topic, hear_ours, qos.TRANSITIONS)

    def _on_batch(self, origin: Origin, msg: TransitionBatch) -> None:
        self.received += 1
        try:
            transitions = transitions_from_msg(msg)
            if transitions.origin is not origin:
                raise InvalidData("origin", f"is {transitions.origin.name} on the {origin.name} stream")
            self.counts.gap(msg.collector_id, msg.session, msg.sequence)
            self._take(transitions)
        except InvalidData as error:
            self.refused += 1
            self.counts.refuse(msg.collector_id, msg.session)
            self._log.warning(f"refused a batch of {shown(msg.collector_id)}: {error}", throttle_duration_sec=_QUIET)
            return
        lost = self.counts.count(msg.collector_id, msg.session, msg.sequence)
        if lost:
            self._log.warning(f"{lost} batches of {shown(msg.collector_id)} were lost", throttle_duration_sec=_QUIET)


def shown(name: str) -> str:
    """A sender's name for the log, shortened to one line."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")
