"""A running policy server as the command line's store of policies."""

from __future__ import annotations

import time
from typing import Any

import rclpy
from ompo_msgs.srv import ActivatePolicy, ListPolicies

from ompo_ros.nodes.wire.listing import listed_from_msg
from ompo_ros.policy.errors import RegistryError
from ompo_ros.policy.registry import ListedPolicy

TIMEOUT = 10.0  # seconds; discovery alone may take three


class ServerStore:
    """Calls the services of the policy_server in a namespace."""

    def __init__(self, namespace: str) -> None:
        self._server = f"{namespace.rstrip('/')}/policy_server"
        self.warnings: list[str] = []  # a server logs its own

    def listing(self) -> list[ListedPolicy]:
        answer = self._call(ListPolicies, "list_policies", ListPolicies.Request())
        return [listed_from_msg(info) for info in answer.policies]

    def activate(self, channel: str, version: int, reason: str, *, pin: bool) -> str:
        request = ActivatePolicy.Request(channel=channel, version=version, reason=reason, pin=pin)
        answer = self._call(ActivatePolicy, "activate_policy", request)
        if not answer.success:
            raise RegistryError(answer.message)
        return str(answer.message)

    def _call(self, kind: Any, name: str, request: Any) -> Any:  # noqa: ANN401 (generated types have no common one)
        rclpy.init()
        try:
            node = rclpy.create_node("ompo_policy")
            client = node.create_client(kind, f"{self._server}/{name}")
            deadline = time.monotonic() + TIMEOUT
            if not client.wait_for_service(TIMEOUT):
                raise ConnectionError(
                    f"no {self._server} answers: start one, name its --namespace, or give its folder by --registry"
                )
            future = client.call_async(request)
            rclpy.spin_until_future_complete(node, future, timeout_sec=max(1.0, deadline - time.monotonic()))
            if not future.done():
                raise ConnectionError(f"{self._server} did not answer within {TIMEOUT:g} s")
            return future.result()
        finally:
            rclpy.try_shutdown()
