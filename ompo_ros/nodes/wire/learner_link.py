"""A target collector's link to its learner: whole episodes one way, counts the other."""

from __future__ import annotations

import math
import time
from typing import Final

from builtin_interfaces.msg import Time
from ompo_msgs.msg import LearnerStatus
from rclpy.node import Node

from ompo_ros.control.player import Player
from ompo_ros.nodes.wire.batches import BatchPublisher
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.learner_status import Metrics, hear_status
from ompo_ros.transitions import Origin, Transitions

_LONGEST_WAIT: Final = 4.0  # s that a real arm waits for a learner that is behind: about an episode with homing
_SILENCE: Final = 5.0  # s without the learner's status, sent every second, until the arm holds


class LearnerLink:
    """Numbers the batches, and keeps the player's counts equal to the learner's."""

    def __init__(self, node: Node, identity: Identity, player: Player, *, lockstep: bool) -> None:
        self._player = player
        self._longest_wait = math.inf if lockstep else _LONGEST_WAIT  # a simulated arm has time
        self._paused = False
        self._steps = (-1, -1)  # the learner's last reported counts, of target and demonstrations
        self._heard: float | None = None
        self._sent_since_status = False
        self._behind, self._sent_at = False, 0.0
        self._transitions = {
            origin: BatchPublisher(node, f"{origin.name.lower()}/transitions", identity)
            for origin in (Origin.TARGET, Origin.DEMONSTRATION)
        }
        hear_status(node, identity, self._on_status)

    @property
    def problem(self) -> str:
        """Hold the arm without a learner: its motion would be wasted."""
        if self._paused:
            return "the learner is paused"
        silence = 0.0 if self._heard is None else time.monotonic() - self._heard
        return f"the learner has been silent for {silence:.0f} s" if silence > _SILENCE else ""

    @property
    def keeps_up(self) -> bool:
        """Whether updates keep up with the arm, or it has waited long enough."""
        return not self._behind or time.monotonic() - self._sent_at > self._longest_wait

    def send(self, transitions: Transitions, stamp: Time) -> None:
        self._transitions[transitions.origin].send(transitions, stamp)
        self._sent_since_status, self._sent_at = True, time.monotonic()

    def _on_status(self, msg: LearnerStatus, _: Metrics) -> None:
        """Adopt the learner's counts: it may have resumed with more than we sent, or with less."""
        self._heard = time.monotonic()
        steps = (msg.target_steps, msg.demonstration_steps)
        all_arrived = steps == self._steps and not self._sent_since_status
        player = self._player
        if msg.target_steps > player.target_steps or all_arrived:
            player.target_steps = msg.target_steps
        if msg.demonstration_steps > player.demonstration_steps or all_arrived:
            player.demonstration_steps = msg.demonstration_steps
        self._steps, self._sent_since_status, self._behind = steps, False, msg.behind
        self._paused = msg.state == LearnerStatus.PAUSED
