"""Runs a policy on the robot: the server's stable one, changed as it changes, or a file; silent until enabled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from geometry_msgs.msg import PointStamped
from ompo_msgs.msg import EpisodeSummary
from rclpy.node import Node

from ompo_ros.control.attempts import spelled
from ompo_ros.control.controller import ENABLE, Controller, ControllerPhase
from ompo_ros.control.episode import PlayedEpisode
from ompo_ros.nodes.arm import Arm
from ompo_ros.nodes.parameters import PolicyControllerParameters
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.policy_feed import PolicyFeed
from ompo_ros.nodes.wire.process import run
from ompo_ros.policy.artifact import policy_bytes
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.runtime import PolicyRuntime, shorten_thread_switches
from ompo_ros.task.acting import Policy
from ompo_ros.task.contract import Contract
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task


class PolicyController(Node):
    """Wires the controller's state machine to the arm, to policies and goals."""

    def __init__(self) -> None:
        super().__init__("policy_controller", **OVERRIDES)
        given = declare(self, PolicyControllerParameters)
        identity = Identity(self, given.run_id)
        robot, task = load_robot(given.robot, given.driver), Task(given.task, given.reward)
        contract = task.on(robot)
        self._frame = contract.frame
        # A file's policy is there at once or never, the server's come as they come.
        runtime = _read(given.policy, contract) if given.policy else None
        self._policies = None if given.policy else PolicyFeed(self, "policy/stable", contract, identity)
        self._announced: Policy | None = None
        self._controller = Controller(
            robot,
            task,
            self._policies.newest if self._policies else lambda: runtime,
            goal=np.array(given.goal) if given.goal else task.goals(np.full((1, 3), 0.5))[0],
            speed_scale=given.speed_scale,
            blend_time=given.blend_time,
            cube_rest_time=given.cube_rest_time,
        )
        self.create_subscription(PointStamped, "goal", self._on_goal, 1)
        self.arm = Arm(
            self, given, identity, self._controller, after_tick=self._after_tick, on_episode=self._on_attempt
        )

    def _on_goal(self, msg: PointStamped) -> None:
        try:
            if msg.header.frame_id != self._frame:
                raise ValueError(f"frame {msg.header.frame_id!r}: goals are given in {self._frame!r}")
            before = self._controller.goal if self._controller.is_under_way else None
            self._controller.go_to(np.array([msg.point.x, msg.point.y, msg.point.z]))
        except ValueError as error:
            self.get_logger().error(f"refused a goal, keeping the one before: {error}")
            return
        phase, problem = self._controller.phase, self._controller.problem
        waits = "" if phase is ControllerPhase.RUNNING else f"; the arm waits: {problem or phase.value}"
        waits += f", run `{ENABLE}`" if phase is ControllerPhase.DISABLED else ""
        instead = "" if before is None else f" instead of {spelled(before)}, which was under way"
        self.get_logger().info(f"goal {spelled(self._controller.goal)} accepted{instead}{waits}")

    def _on_attempt(self, attempt: PlayedEpisode, _: EpisodeSummary) -> None:
        text = f"goal {spelled(self._controller.goal)} {self._controller.outcome}"
        if attempt.success:
            self.get_logger().info(text)
        else:  # rclpy allows one severity per place of call
            self.get_logger().warning(text)

    def _after_tick(self) -> None:
        """Report which policy took over, and let the next one be loaded until the next tick."""
        policy = self._controller.policy
        if policy is not None and policy is not self._announced:
            self._announced = policy
            self.get_logger().info(f"policy {policy.version} takes over (sha256 {policy.sha256})")
        if self._policies is not None:
            self._policies.pause()

    def destroy_node(self) -> None:
        """End the loader before the node it reports to."""
        if self._policies is not None:
            self._policies.close()
        super().destroy_node()


def _read(file: str, contract: Contract) -> PolicyRuntime:
    try:
        return PolicyRuntime(policy_bytes(Path(file).expanduser()), contract)
    except (OSError, RefusedPolicy) as error:
        raise ValueError(f"parameter 'policy': {file} cannot be run: {error}") from error


def main() -> None:
    """Run the controller until it is stopped."""
    shorten_thread_switches()
    run(PolicyController, ending_of=lambda node: node.arm)


if __name__ == "__main__":
    main()
