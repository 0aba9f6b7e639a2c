"""The page's buttons as calls of the services and actions that a shell would call; every press gets an answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from geometry_msgs.msg import PointStamped
from ompo_msgs.action import Evaluate
from ompo_msgs.srv import ActivatePolicy, SetEnabled
from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from ompo_ros.monitor.press import Act, Press
from ompo_ros.monitor.run_state import RunState
from ompo_ros.nodes.wire.evaluation_client import ACTION
from ompo_ros.nodes.wire.goal import goal_msg
from ompo_ros.nodes.wire.identity import enabling_request
from ompo_ros.words import ARM_NODES

_PATIENCE: Final = 10.0  # s for an answer; the learner may be busy with a checkpoint
_STABLE: Final = "stable"


class PageCalls:
    """One client per service; answers go into the run's state."""

    def __init__(self, node: Node, run: RunState, run_id: str, frame: str) -> None:
        self._node, self._run, self._run_id, self._frame = node, run, run_id, frame
        self._arms = {name: node.create_client(SetEnabled, f"{name}/set_enabled") for name in ARM_NODES}
        self._pause = node.create_client(SetBool, "learner/set_paused")
        self._save = node.create_client(Trigger, "learner/save_checkpoint")
        self._activate = node.create_client(ActivatePolicy, "policy_server/activate_policy")
        self._evaluate = ActionClient(node, Evaluate, ACTION)
        self._goals = node.create_publisher(PointStamped, "goal", 1)
        self._waiting: dict[Future, tuple[Act, float, Client]] = {}

    def available(self) -> set[Act]:
        """What somebody would answer now; stop is always offered."""
        found = {Act.STOP}
        found |= {Act.ENABLE} if any(client.service_is_ready() for client in self._arms.values()) else set()
        found |= {Act.PAUSE, Act.RESUME, Act.SAVE} if self._pause.service_is_ready() else set()
        found |= {Act.ACTIVATE, Act.PIN, Act.ROLL_BACK} if self._activate.service_is_ready() else set()
        found |= {Act.EVALUATE} if self._evaluate.server_is_ready() else set()
        found |= {Act.GOAL} if self._goals.get_subscription_count() else set()
        return found

    def do(self, press: Press) -> None:
        """Call what a press means."""
        act, number = press.act, press.number
        if act in (Act.STOP, Act.ENABLE):
            self._set_enabled(act)
        elif act in (Act.PAUSE, Act.RESUME):
            self._call(act, self._pause, SetBool.Request(data=act is Act.PAUSE))
        elif act is Act.SAVE:
            self._call(act, self._save, Trigger.Request())
        elif act is Act.EVALUATE:
            self._play(number)
        elif act is Act.GOAL:
            self._goals.publish(goal_msg(self._node, self._frame, np.array(press.goal)))
            self._run.answer(act.value, "sent: " + " ".join(f"{x:.3f}" for x in press.goal), True)
        elif act is not Act.ROLL_BACK and number == 0:
            self._run.answer(act.value, "choose a version first", False)
        else:
            self._move_stable(act, number)

    def give_up_late(self) -> None:
        """Say of calls that nobody answers that nobody does; call it now and then."""
        for future, (act, deadline, client) in list(self._waiting.items()):
            if time.monotonic() > deadline:
                del self._waiting[future]
                client.remove_pending_request(future)
                self._run.answer(act.value, f"{client.srv_name} did not answer within {_PATIENCE:g} s", False)

    def _set_enabled(self, act: Act) -> None:
        """Stop whatever moves the arm; let the one that is there move it."""
        ready = {name: client for name, client in self._arms.items() if client.service_is_ready()}
        if not ready:
            self._run.answer(act.value, "no node that moves an arm is there; use the robot's own stop", False)
        for name, client in ready.items():
            full = self._node.resolve_topic_name(name)
            self._call(act, client, enabling_request(act is Act.ENABLE, full))  # of no run: a person presses

    def _move_stable(self, act: Act, version: int) -> None:
        request = ActivatePolicy.Request(
            version=0 if act is Act.ROLL_BACK else version,
            channel=_STABLE,
            run_id=self._run_id,
            pin=act in (Act.PIN, Act.ROLL_BACK),
            reason="asked for on the page",
        )
        self._call(act, self._activate, request)

    def _call(self, act: Act, client: Client, request: Any) -> None:  # noqa: ANN401 (generated types have no common one)
        if not client.service_is_ready():
            self._run.answer(act.value, f"{client.srv_name} is not there", False)
            return
        future = client.call_async(request)
        self._waiting[future] = (act, time.monotonic() + _PATIENCE, client)
        future.add_done_callback(self._on_answer)

    def _on_answer(self, future: Future) -> None:
        waited = self._waiting.pop(future, None)
        if waited is not None:
            answer = future.result()
            self._run.answer(waited[0].value, answer.message, answer.success)

    # -- evaluation ---------------------------------------------------------------------------------------------

    def _play(self, episodes: int) -> None:
        say = self._say_evaluation
        if not self._evaluate.server_is_ready():
            say("", f"{ACTION} is not there", False)
            return
        goal = Evaluate.Goal(run_id=self._run_id, episodes=episodes)
        sent = self._evaluate.send_goal_async(
            goal, feedback_callback=lambda msg: self._progress(msg.feedback.completed, episodes)
        )
        sent.add_done_callback(lambda future: self._on_accepted(future.result(), episodes, say))

    def _progress(self, completed: int, episodes: int) -> None:
        self._run.evaluation = f"Evaluating: {completed} of {episodes}"

    def _on_accepted(self, goal: Any, episodes: int, say: Callable[[str, str, bool], None]) -> None:  # noqa: ANN401 (rclpy's)
        if not goal.accepted:
            say(self._run.evaluation, "refused; the warnings say why", False)
            return
        say(f"Evaluating: 0 of {episodes}", f"{episodes} episodes are being played", True)
        goal.get_result_async().add_done_callback(lambda future: self._on_result(future.result().result, say))

    def _on_result(self, result: Evaluate.Result, say: Callable[[str, str, bool], None]) -> None:
        played = f"{result.success_rate:.0%} success, mean return {result.mean_return:.2f}"
        text = played if result.success else f"{len(result.episodes)} episodes were played: {result.message}"
        say("", text, bool(result.success))

    def _say_evaluation(self, label: str, text: str, good: bool) -> None:
        self._run.evaluation = label
        self._run.answer(Act.EVALUATE.value, text, good)
