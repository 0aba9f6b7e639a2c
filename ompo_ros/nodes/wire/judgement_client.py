"""Hands a run's evaluation to the policy server, and comes to an end whatever becomes of the server."""

from __future__ import annotations

from collections.abc import Callable

from ompo_msgs.srv import JudgePolicy
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.nodes.wire.repeated_call import RepeatedCall

_SERVICE = "policy_server/judge_policy"
_PATIENCE = 20.0  # s; a server that died is back by then, and one that lost an answer is asked again

Then = Callable[[bool, str], None]


class JudgementClient:
    """One judgement; `then` gets whether the policy is stable now, and why."""

    def __init__(self, node: Node) -> None:
        self._client = node.create_client(JudgePolicy, _SERVICE)
        self._node = node

    def judge(self, request: JudgePolicy.Request, then: Then) -> None:
        """Ask as soon as the server is there; one that is asked again repeats its answer."""

        def on_answer(future: Future) -> None:
            answer = future.result()
            if answer is None:
                then(False, "the policy server did not answer")
            else:
                then(answer.stable, answer.message)

        RepeatedCall(self._node, self._client, lambda: request, patience=_PATIENCE).answer.add_done_callback(on_answer)
