"""What a running graph says of itself within a few seconds: nodes, the arms' reports, the learner, the policies."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import rclpy
from ompo_msgs.msg import LearnerStatus
from ompo_msgs.srv import ListPolicies
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.arm_reports import ArmReport, ArmReports
from ompo_ros.nodes.wire.listing import listed_from_msg
from ompo_ros.policy.registry import ListedPolicy
from ompo_ros.words import ARM_NODES, LEARNER_STATES

_TIMEOUT = 10.0  # s; discovery alone may take three
_SETTLED = 2.5  # s without another node


@dataclass(frozen=True)
class GraphView:
    """One look at a namespace; what no node of it says is missing."""

    namespace: str
    nodes: list[str]
    arms: dict[str, ArmReport] = field(default_factory=dict)  # by the node's name
    learner: LearnerStatus | None = None
    policies: list[ListedPolicy] | None = None

    @property
    def learner_state(self) -> str:
        return dict(enumerate(LEARNER_STATES)).get(self.learner.state, "unknown") if self.learner else ""


class Observer:
    """Listens until every node that is there has said what it has to say."""

    def __init__(self, namespace: str) -> None:
        self._space = "/" + namespace.strip("/")
        self._learner: LearnerStatus | None = None
        self._policies: Future | None = None

    def look(self) -> GraphView:
        """Raises ConnectionError where there is no node."""
        rclpy.init()
        try:
            node = rclpy.create_node("ompo_status")
            arms, prefix = ArmReports(node), self._space.rstrip("/")
            node.create_subscription(LearnerStatus, f"{prefix}/status", self._on_status, qos.LATCHED)
            listing = node.create_client(ListPolicies, f"{prefix}/policy_server/list_policies")
            nodes, changed, deadline = self._nodes(node), time.monotonic(), time.monotonic() + _TIMEOUT
            while time.monotonic() < deadline:
                rclpy.spin_once(node, timeout_sec=0.1)
                if (now := self._nodes(node)) != nodes:
                    nodes, changed = now, time.monotonic()
                self._ask(listing)
                settled = nodes and time.monotonic() - changed > _SETTLED
                if settled and self._all_heard(nodes, {name.rpartition("/")[2] for name in arms.newest}):
                    break
            return self._view(nodes, arms)
        finally:
            rclpy.try_shutdown()

    def _view(self, nodes: list[str], arms: ArmReports) -> GraphView:
        if not nodes:
            raise ConnectionError(f"no node answers in {self._space}: start a launch, or give its --namespace")
        ours = {name.rpartition("/")[2]: arm for name, arm in arms.newest.items() if self._is_ours(name)}
        answer = self._policies.result() if self._policies is not None and self._policies.done() else None
        policies = None if answer is None else [listed_from_msg(info) for info in answer.policies]
        return GraphView(self._space, nodes, ours, self._learner, policies)

    def _nodes(self, node: Node) -> list[str]:
        """The names in the namespace, without ROS's hidden ones."""
        found = node.get_node_names_and_namespaces()
        return sorted({name for name, space in found if space == self._space and name[0] not in "_"} - {"ompo_status"})

    def _is_ours(self, name: str) -> bool:
        return (name.rpartition("/")[0] or "/") == self._space

    def _ask(self, listing: Client) -> None:
        if self._policies is None and listing.service_is_ready():
            self._policies = listing.call_async(ListPolicies.Request())

    def _on_status(self, msg: LearnerStatus) -> None:
        self._learner = msg

    def _all_heard(self, nodes: list[str], arms: set[str]) -> bool:
        waited = set(ARM_NODES) & set(nodes) - arms
        if "learner" in nodes and self._learner is None:
            return False
        if "policy_server" in nodes and (self._policies is None or not self._policies.done()):
            return False
        return not waited
