"""Policies for a control loop, loaded in a thread so that no tick is late: a channel's newest, or a single one."""

from __future__ import annotations

from ompo_msgs.msg import PolicyArtifact
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_from_msg
from ompo_ros.nodes.wire.identity import Identity
from ompo_ros.policy.errors import RefusedPolicy
from ompo_ros.policy.runtime import PolicyRuntime, PolicySlot
from ompo_ros.task.contract import Contract
from ompo_ros.transitions import InvalidData


class PolicyFeed:
    """The newest policy on a topic of the policy server that this robot can run."""

    def __init__(
        self, node: Node, topic: str, contract: Contract, identity: Identity, *, batch: int | None = None
    ) -> None:
        self._node = node
        self._slot = PolicySlot(contract, self._refuse, batch=batch)
        self._offered = ""  # sha256 of the newest that was offered to the slot
        node.create_subscription(PolicyArtifact, topic, identity.only_ours(self._on_policy, topic), qos.LATCHED)

    def newest(self) -> PolicyRuntime | None:
        return self._slot.runtime

    def pause(self) -> None:
        """Load the next policy before the next tick; call it at the end of each tick."""
        self._slot.pause()

    def close(self) -> None:
        """End the loader before the node it reports to."""
        self._slot.close()

    def _on_policy(self, msg: PolicyArtifact) -> None:
        if msg.sha256 == self._offered:
            return  # repeated by a restarted server
        try:
            onnx = artifact_from_msg(msg)
        except InvalidData as error:
            self._refuse(error)
            return
        self._offered = msg.sha256
        self._slot.offer(onnx, msg.sha256)
        if self._slot.runtime is None:
            self._slot.pause()  # the arm stands without a policy, so the first one is loaded at once

    def _refuse(self, error: Exception) -> None:
        self._node.get_logger().error(f"refused a policy, keeping the one before: {error}")


class PolicyLoader:
    """Loads requested policies, one at a time."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._slot: PolicySlot | None = None
        self._refusals: list[RefusedPolicy] = []
        self._loaded = Future()

    def load(self, msg: PolicyArtifact) -> Future:
        """Await the runtime of a received policy; ValueError says why there is none."""
        onnx = artifact_from_msg(msg)
        self._refusals, self._loaded = [], Future()
        self._slot = PolicySlot(self._contract, self._refusals.append)
        self._slot.offer(onnx, msg.sha256)
        return self._loaded

    def pause(self) -> None:
        """Load it before the next tick and hand it over when ready; call it at the end of each tick."""
        if self._slot is None:
            return
        self._slot.pause()
        runtime = self._slot.runtime
        if runtime is not None:
            self._loaded.set_result(runtime)
        elif self._refusals:
            self._loaded.set_exception(self._refusals[0])
        else:
            return
        self.close()

    def close(self) -> None:
        """End the loader before the node it reports to."""
        if self._slot is not None:
            self._slot.close()
            self._slot = None
