"""The action `~/evaluate`: deterministic episodes driven by the node's ticks, so that control never waits."""

from __future__ import annotations

from typing import Any

import numpy as np
from ompo_msgs.action import Evaluate
from ompo_msgs.msg import EpisodeSummary
from ompo_msgs.srv import GetPolicy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.control.collector import ENABLE, Collector
from ompo_ros.control.player import EvaluationRun
from ompo_ros.nodes.wire.identity import GET_POLICY, Identity
from ompo_ros.nodes.wire.policy_feed import PolicyLoader
from ompo_ros.nodes.wire.repeated_call import RepeatedCall
from ompo_ros.task.acting import Policy

_MAX_DROPPED = 10  # interrupted episodes before an evaluation is given up
_PATIENCE = 20.0  # s for the policy server to send a policy
_CANCELLED = "cancelled"


class EvaluateAction:
    """One evaluation at a time: the goal's coroutine waits, `tick` and `episode_ended` move it on."""

    def __init__(self, node: Node, identity: Identity, collector: Collector) -> None:
        self._node, self._identity = node, identity
        self._collector, self._player = collector, collector.player
        self._loader = PolicyLoader(collector.motion.contract)
        self._busy = False
        self._evaluation: EvaluationRun | None = None
        self._goal: Any = None
        self._ended: Future | None = None
        self._asked: Future | None = None  # for the policy, while the server has not answered
        self._summaries: list[EpisodeSummary] = []
        self._get_policy = node.create_client(GetPolicy, "policy_server/get_policy")
        self._server = ActionServer(
            node,
            Evaluate,
            "~/evaluate",
            self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    def tick(self) -> None:
        """Handle a loaded policy, a cancelled goal, a disabled collector, and repeated interruptions."""
        self._loader.pause()
        evaluation = self._evaluation
        if self._asked is not None and self._goal.is_cancel_requested:
            self._asked.cancel()
        if evaluation is None or self._ended is None:
            return
        problem = ""
        if self._goal.is_cancel_requested:
            problem = _CANCELLED
        elif not self._collector.enabled:
            problem = "the collector was disabled"
        elif evaluation.dropped > _MAX_DROPPED:
            problem = f"{evaluation.dropped} episodes broke off: {self._collector.problem or 'see the log'}"
        if problem or evaluation.done:
            self._evaluation = None
            self._player.stop_evaluation()
            self._ended.set_result(problem)

    def close(self) -> None:
        """Stop the loader before the node ends."""
        self._loader.close()

    def episode_ended(self, summary: EpisodeSummary) -> None:
        """Pass a whole deterministic episode on as feedback."""
        if self._evaluation is None or not summary.deterministic or summary.outcome == EpisodeSummary.DROPPED:
            return
        self._summaries.append(summary)
        self._goal.publish_feedback(Evaluate.Feedback(completed=len(self._summaries), last=summary))

    def _on_goal(self, request: Evaluate.Goal) -> GoalResponse:
        foreign, refusal = self._identity.caller_problem(request.run_id), ""
        if foreign:
            refusal = foreign
        elif request.episodes < 1:
            refusal = "at least one episode is needed"
        elif self._busy:
            refusal = "an evaluation is running: wait for it, or cancel it"
        elif not self._collector.enabled:
            refusal = f"the collector is disabled: run `{ENABLE}` first"
        elif request.policy_version == 0 and self._player.policy is None:
            refusal = "no policy has come on policy/latest yet"
        if refusal:
            self._node.get_logger().warning(f"refused to evaluate: {refusal}", throttle_duration_sec=30.0)
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    async def _execute(self, goal: Any) -> Evaluate.Result:  # noqa: ANN401 - rclpy's ServerGoalHandle is untyped
        self._goal, self._summaries, self._ended = goal, [], Future()
        try:
            policy = await self._policy(goal.request.policy_version)
            self._evaluation = self._player.evaluate(policy, goal.request.episodes)
            problem = await self._ended
        except ValueError as error:
            problem = str(error)
        finally:
            self._busy = False
        if not problem:
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        played = self._summaries
        return Evaluate.Result(
            success=not problem,
            message=problem,
            episodes=played,
            success_rate=float(np.mean([summary.success for summary in played])) if played else 0.0,
            mean_return=float(np.mean([summary.episode_return for summary in played])) if played else 0.0,
        )

    async def _policy(self, version: int) -> Policy:
        running = self._player.policy
        if running is not None and version in (0, running.version):
            return running
        if not self._get_policy.service_is_ready():
            raise ValueError(f"policy {version} is not running here, and {self._get_policy.srv_name} does not answer")
        request = GetPolicy.Request(version=version, channel="latest")
        self._asked = RepeatedCall(self._node, self._get_policy, lambda: request, patience=_PATIENCE).answer
        answer = await self._asked
        self._asked = None
        if self._goal.is_cancel_requested:
            raise ValueError(_CANCELLED)
        if answer is None:
            raise ValueError(f"policy {version}: {self._get_policy.srv_name} did not answer within {_PATIENCE:g} s")
        if not answer.success:
            raise ValueError(f"policy {version}: {answer.message}")
        self._identity.check(answer.policy, GET_POLICY)
        if version not in (0, answer.policy.version):
            raise ValueError(f"policy {version} was asked for, {answer.policy.version} came")
        loaded: Policy = await self._loader.load(answer.policy)
        return loaded
