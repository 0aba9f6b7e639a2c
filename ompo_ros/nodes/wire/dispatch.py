"""Sends the commands of a motion in time and in order, and stops when none of them arrives."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np
from rclpy.node import Node
from rclpy.time import Time

from ompo_ros.control.motion import Motion
from ompo_ros.control.safety import SafeCommand
from ompo_ros.nodes.wire.commands import Commands, Delivery
from ompo_ros.nodes.wire.loop_clock import LoopClock

_HEARS: Final = 1.5  # periods since a joint state within which the network is there
_LOST: Final = 2  # commands in a row; the acknowledgement of one may just be slow


class Dispatch:
    """Sends a motion's commands to its driver; a dry run sends nothing.

    `on_desertion` is called when a driver leaves that took commands: a person may have taken the arm over.
    """

    def __init__(
        self,
        node: Node,
        motion: Motion,
        clock: LoopClock,
        topic: str,
        *,
        lockstep: bool,
        dry: bool,
        on_desertion: Callable[[], None],
    ) -> None:
        self._on_desertion = on_desertion
        self._motion, self._clock, self._topic, self._lockstep = motion, clock, topic, lockstep
        self._commands = None if dry else Commands(node, motion.robot, topic)
        self.withheld = 0

    def problem(self, silence: float) -> str:
        """If a command did not arrive, or nobody is there to take it, send none: the driver's state is unknown.

        Call before each tick; `silence` is the time in seconds since the last joint state. That a robot is not there
        at all is for others to say.
        """
        commands, motion = self._commands, self._motion
        if commands is None:
            return ""
        delivery = commands.delivery()
        motion.filter.delivered = delivery is Delivery.ARRIVED
        if not commands.is_heard:
            if motion.moving:
                motion.leave()
            if commands.desertion():
                self._on_desertion()
            motion.filter.forget()
            silent = silence > motion.robot.stale_after
            return "" if silent else f"nobody listens to {self._topic}: is the driver there?"
        hears = silence < _HEARS * motion.robot.period
        lost = delivery is Delivery.LOST and not self._lockstep  # there the next state is the answer
        if lost and motion.moving and (commands.lost >= _LOST or not hears):
            motion.leave()
            return f"not all who listen to {self._topic} acknowledge commands: is the driver there, and the network?"
        return ""

    def look(self) -> None:
        """Look who listens to the commands, about once a second."""
        if self._commands is not None:
            self._commands.look()

    def send(self, command: SafeCommand, now: float, *, waits: bool = False) -> None:
        """Send a command in time and after the last one arrived; otherwise the driver continues its motion.

        A stand-in in lockstep continues slowly without: an arm that `waits` should not use up the learner's core.
        """
        commands = self._commands
        if commands is None or (self._lockstep and waits):
            self._motion.withdraw()
            return
        if self._lockstep:  # the robot waits for it
            commands.send(command, Time(nanoseconds=round(now * 1e9)), np.inf)
            return
        ticked = time.monotonic() - max(self._clock.now() - now, 0.0)
        left = None
        if commands.delivery() is not Delivery.PENDING:
            left = commands.send(command, self._clock.stamp(now), ticked + command.latest - now)
        if left is None:
            self._motion.withdraw()
            self.withheld += 1
        else:
            self._motion.filter.sent(now + left - ticked)
