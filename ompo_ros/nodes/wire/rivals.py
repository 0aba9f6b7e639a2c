"""Detects other nodes that command the same arm; while there are two, neither may move it."""

from __future__ import annotations

from rclpy.node import Node


class Rivals:
    """Looks for a second publisher of commands, and for a second node of our name."""

    def __init__(self, node: Node, command_topic: str, *, dry: bool) -> None:
        self._node, self._topic, self._dry = node, command_topic, dry
        self.problem = ""

    def look(self) -> None:
        """Count the publishers; too slow for every tick."""
        name = self._node.get_fully_qualified_name()
        publishers = self._node.count_publishers(self._topic)
        alone = self._dry or publishers <= 1
        self.problem = "" if alone else f"{publishers} nodes send commands on {self._topic}: stop the others"
        if self._node.count_services(f"{name}/set_enabled") > 1:
            self.problem = f"another node has the name {name}: stop it"
