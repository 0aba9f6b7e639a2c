"""What arm nodes report of themselves on /diagnostics, for whoever asks from a shell."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

from ompo_ros.words import CONTROL


@dataclass(frozen=True)
class ArmReport:
    """The newest report of one arm node."""

    robot: str
    message: str
    is_well: bool
    figures: dict[str, str]


class ArmReports:
    """The newest report by the full name of its node."""

    def __init__(self, node: Node) -> None:
        self.newest: dict[str, ArmReport] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)

    def _on_report(self, msg: DiagnosticArray) -> None:
        for status in msg.status:
            if status.name.endswith(CONTROL):
                figures = {entry.key: entry.value for entry in status.values}
                is_well = status.level == DiagnosticStatus.OK
                report = ArmReport(status.hardware_id, status.message, is_well, figures)
                self.newest[status.name.removesuffix(CONTROL)] = report
