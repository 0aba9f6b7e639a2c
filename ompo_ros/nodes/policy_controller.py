"""Runs a policy on the robot: the server's stable one, changed as it changes, or a file; silent until enabled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from geometry_msgs.msg import PointStamped
from ompo_msgs.msg import PolicyArtifact

from ompo_ros.control.controller import Controller, Policy
from ompo_ros.nodes.arm_node import ArmNode
from ompo_ros.nodes.parameters import PolicyControllerParameters
from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_from_msg
from ompo_ros.nodes.wire.process import run_arm
from ompo_ros.policy.artifact import policy_bytes
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.runtime import PolicyRuntime, PolicySlot, shorten_thread_switches
from ompo_ros.transitions import InvalidData


class PolicyController(ArmNode):
    """Wires the controller's state machine to policies and goals."""

    def __init__(self) -> None:
        super().__init__("policy_controller", PolicyControllerParameters)
        given = self.given
        assert isinstance(given, PolicyControllerParameters)  # noqa: S101 - what ArmNode was asked for
        centre = self.task.goals(np.full((1, 3), 0.5))[0]
        self._slot: PolicySlot | None = None
        self._offered = ""  # sha256 of the newest that was offered to the slot
        self._announced: Policy | None = None
        self._controller = Controller(
            self.robot,
            self.task,
            self._policy_source(given.policy),
            goal=np.array(given.goal) if given.goal else centre,
            speed_scale=given.speed_scale,
            blend_time=given.blend_time,
        )
        self.create_subscription(PointStamped, "goal", self._on_goal, 1)
        self.connect(self._controller)

    def _policy_source(self, file: str) -> Callable[[], PolicyRuntime | None]:
        """Where to ask for the newest policy: a file's is there at once or never, the server's come as they come."""
        if file:
            try:
                runtime = PolicyRuntime(policy_bytes(Path(file).expanduser()), self.contract)
            except (OSError, RefusedPolicy) as error:
                raise ValueError(f"parameter 'policy': {file} cannot be run: {error}") from error
            return lambda: runtime
        slot = self._slot = PolicySlot(self.contract, self._refuse)
        hear = self.identity.only_ours(self._on_policy, "policy/stable")
        self.create_subscription(PolicyArtifact, "policy/stable", hear, qos.LATCHED)
        return lambda: slot.runtime

    def _on_policy(self, msg: PolicyArtifact) -> None:
        if self._slot is None or msg.sha256 == self._offered:
            return  # sent again, by a server that was restarted
        try:
            onnx = artifact_from_msg(msg)
        except InvalidData as error:
            self._refuse(error)
            return
        self._offered = msg.sha256
        self._slot.offer(onnx, msg.sha256)

    def _refuse(self, error: Exception) -> None:
        self.get_logger().error(f"refused a policy, keeping the one before: {error}")

    def _on_goal(self, msg: PointStamped) -> None:
        try:
            if msg.header.frame_id != self.contract.frame:
                raise ValueError(f"frame {msg.header.frame_id!r}: goals are given in {self.contract.frame!r}")
            self._controller.go_to(np.array([msg.point.x, msg.point.y, msg.point.z]))
        except ValueError as error:
            self.get_logger().error(f"refused a goal, keeping the one before: {error}")

    def after_tick(self) -> None:
        """Tell which policy took over, and let the next one be loaded until the next tick."""
        policy = self._controller.policy
        if policy is not None and policy is not self._announced:
            self._announced = policy
            self.get_logger().info(f"policy {policy.version} takes over (sha256 {policy.sha256})")
        if self._slot is not None:
            self._slot.pause()

    def destroy_node(self) -> None:
        """End the loader before the node it reports to."""
        if self._slot is not None:
            self._slot.close()
        super().destroy_node()


def main() -> None:
    """Run the controller until it is stopped."""
    shorten_thread_switches()
    run_arm(PolicyController)


if __name__ == "__main__":
    main()
