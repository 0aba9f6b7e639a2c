"""A call that is made again until it is answered: a server drops its answer to a client that it has not found yet."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.nodes.wire.process import STEADY

_AGAIN: Final = 5.0  # s until a call is made again
_PERIOD: Final = 0.2  # s between two looks


class RepeatedCall:
    """One call of a service that may be called twice; it waits for a service that is not there.

    `answer` is set to the answer, or to None after `patience` seconds without one. Cancelling it ends the calls.
    """

    def __init__(self, node: Node, client: Client, request: Callable[[], Any], *, patience: float = math.inf) -> None:
        self.answer = Future(executor=node.executor)
        self._node, self._client, self._request = node, client, request
        self._sent: list[Future] = []
        self._next, self._deadline = 0.0, time.monotonic() + patience
        self._timer = node.create_timer(_PERIOD, self._look, clock=STEADY)
        self.answer.add_done_callback(lambda _: self._end())
        self._look()

    def _look(self) -> None:
        now = time.monotonic()
        if self._has_ended:
            return
        if now > self._deadline:
            self._settle(None)
        elif now > self._next and self._client.service_is_ready():
            self._next = now + _AGAIN
            self._sent.append(self._client.call_async(self._request()))
            self._sent[-1].add_done_callback(lambda future: self._settle(future.result()))

    def _settle(self, answer: Any) -> None:  # noqa: ANN401 (generated types have no common one)
        if not self._has_ended:
            self.answer.set_result(answer)

    @property
    def _has_ended(self) -> bool:
        return bool(self.answer.done() or self.answer.cancelled())

    def _end(self) -> None:
        self._node.destroy_timer(self._timer)
        for future in self._sent:
            self._client.remove_pending_request(future)
