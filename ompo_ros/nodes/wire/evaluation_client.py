"""Requests deterministic episodes from the target collector; always ends, even if the collector dies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ompo_msgs.action import Evaluate
from ompo_msgs.msg import EpisodeSummary
from rclpy.action import ActionClient
from rclpy.node import Node

from ompo_ros.nodes.wire.conversions import check_episode
from ompo_ros.transitions import InvalidData

SILENCE = 120.0  # seconds without a finished episode after which an evaluation is given up
_ANSWER = 10.0  # seconds for an answer to a request; a server drops it that has not found the client yet
ACTION = "target_collector/evaluate"

Episodes = Sequence[tuple[bool, float]]  # success and return


class EvaluationClient:
    """One evaluation at a time; `then` gets the episodes, or None if not all were played."""

    def __init__(self, node: Node, run_id: str) -> None:
        self._node = node
        self._run_id = run_id
        self._client = ActionClient(node, Evaluate, ACTION)
        self._then: Callable[[Episodes | None], None] | None = None
        self._goal: Any = None
        self._number = 0  # of the evaluation, to ignore late answers of an abandoned one
        self._last_heard = 0.0

    @property
    def busy(self) -> bool:
        return self._then is not None

    @property
    def ready(self) -> bool:
        """Whether a collector is available and no evaluation is running."""
        return not self.busy and bool(self._client.server_is_ready())

    def evaluate(self, version: int, episodes: int, then: Callable[[Episodes | None], None]) -> None:
        """Start playing."""
        self._number += 1
        number = self._number
        self._then, self._goal, self._last_heard = then, None, time.monotonic()
        sent = self._client.send_goal_async(
            Evaluate.Goal(run_id=self._run_id, episodes=episodes, policy_version=version),
            feedback_callback=lambda _: self._hear(),
        )
        sent.add_done_callback(lambda future: self._on_answer(number, version, episodes, future.result()))

    def check(self) -> None:
        """Give up a stuck evaluation; call it periodically."""
        if not self.busy:
            return
        if not self._client.server_is_ready():
            self._finish(None, "the target collector is gone")
        elif self._goal is None and time.monotonic() - self._last_heard > _ANSWER:
            self._finish(None, f"the target collector did not answer for {_ANSWER:g} s")
        elif time.monotonic() - self._last_heard > SILENCE:
            if self._goal is not None:
                self._goal.cancel_goal_async()
            self._finish(None, f"no episode was finished for {SILENCE:g} s")

    def _hear(self) -> None:
        self._last_heard = time.monotonic()

    def _on_answer(self, number: int, version: int, episodes: int, goal: Any) -> None:  # noqa: ANN401 (rclpy's own)
        if number != self._number or not self.busy:
            if goal.accepted:
                goal.cancel_goal_async()  # nobody waits for its episodes
            return
        if not goal.accepted:
            self._finish(None, "the target collector is not able to evaluate now")
            return
        self._goal = goal
        result = goal.get_result_async()
        result.add_done_callback(lambda future: self._on_result(number, version, episodes, future.result().result))

    def _on_result(self, number: int, version: int, episodes: int, result: Evaluate.Result) -> None:
        if number != self._number or not self.busy:
            return
        try:
            played = [_outcome(episode, version) for episode in result.episodes]
        except InvalidData as error:
            self._finish(None, str(error))
            return
        if not result.success or len(played) != episodes:
            self._finish(None, f"{len(played)} of {episodes} episodes were played: {result.message}")
        else:
            self._finish(played, "")

    def _finish(self, episodes: Episodes | None, problem: str) -> None:
        then, self._then = self._then, None
        if problem:
            self._node.get_logger().warning(f"evaluation failed: {problem}", throttle_duration_sec=30.0)
        if then is not None:
            then(episodes)


def _outcome(episode: EpisodeSummary, version: int) -> tuple[bool, float]:
    """Success and return, after checking that this policy played the episode deterministically to its end."""
    check_episode(episode)
    if episode.policy_version != version:
        raise InvalidData("policy_version", f"is {episode.policy_version} in the result, {version} was to be played")
    if not episode.deterministic or episode.outcome == EpisodeSummary.DROPPED:
        raise InvalidData("episodes", "hold one that was sampled or broken off")
    return bool(episode.success), float(episode.episode_return)
