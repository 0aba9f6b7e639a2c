"""Hands a run's evaluation to the policy server, and comes to an end whatever becomes of the server."""

from __future__ import annotations

import time
from collections.abc import Callable

from ompo_msgs.srv import JudgePolicy
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.nodes.wire.process import STEADY

_SERVICE = "policy_server/judge_policy"
_PATIENCE = 10.0  # s; a server that died is back by then
_PERIOD = 0.2  # s

Then = Callable[[bool, str], None]


class JudgementClient:
    """One judgement; `then` gets whether the policy is stable now, and why."""

    def __init__(self, node: Node) -> None:
        self._client = node.create_client(JudgePolicy, _SERVICE)
        self._node = node
        self._request: JudgePolicy.Request | None = None
        self._then: Then | None = None
        self._deadline = 0.0

    def judge(self, request: JudgePolicy.Request, then: Then) -> None:
        """Ask as soon as the server is there."""
        self._request, self._then, self._deadline = request, then, time.monotonic() + _PATIENCE
        self._timer = self._node.create_timer(_PERIOD, self._look, clock=STEADY)

    def _look(self) -> None:
        if self._request is not None and self._client.service_is_ready():
            request, self._request = self._request, None
            self._client.call_async(request).add_done_callback(self._on_answer)
        elif time.monotonic() > self._deadline:
            self._finish(False, "the policy server did not answer")

    def _on_answer(self, future: Future) -> None:
        answer = future.result()
        self._finish(answer.stable, answer.message)

    def _finish(self, stable: bool, why: str) -> None:
        self._timer.cancel()
        then, self._then = self._then, None
        if then is not None:
            then(stable, why)
