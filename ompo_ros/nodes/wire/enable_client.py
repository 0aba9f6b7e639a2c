"""Calls `~/set_enabled` of arm nodes from a shell."""

from __future__ import annotations

import time
from collections.abc import Iterator

import rclpy
from ompo_msgs.srv import SetEnabled
from rclpy.client import Client
from rclpy.node import Node

from ompo_ros.nodes.wire.identity import enabling_request

_TIMEOUT = 10.0  # s; discovery alone may take three
_SETTLE = 5.0  # s to find a second arm node after the first; lost announcements are repeated every 3 s


class EnableClient:
    """Those arm nodes with these full names that are running."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def set_enabled(self, enabled: bool) -> Iterator[tuple[str, SetEnabled.Response]]:
        """Call every running node as soon as it is found; yields name and answer at once."""
        rclpy.init()
        try:
            node = rclpy.create_node("ompo_enable")
            clients = {name: node.create_client(SetEnabled, f"{name}/set_enabled") for name in self._names}
            answered: set[str] = set()
            deadline = time.monotonic() + _TIMEOUT
            while len(answered) < len(clients) and time.monotonic() < deadline:
                for name, client in clients.items():
                    if name not in answered and client.service_is_ready():
                        yield name, _call(node, client, name, enabled)
                        answered.add(name)
                        deadline = time.monotonic() + _SETTLE
                time.sleep(0.02)
            if not answered:
                raise ConnectionError(f"no {' or '.join(self._names)} answers: start one, or give its --namespace")
        finally:
            rclpy.try_shutdown()


def _call(node: Node, client: Client, name: str, enabled: bool) -> SetEnabled.Response:
    future = client.call_async(enabling_request(enabled, name))
    rclpy.spin_until_future_complete(node, future, timeout_sec=_TIMEOUT)
    if not future.done():
        raise ConnectionError(f"{name} did not answer within {_TIMEOUT:g} s")
    return future.result()
