"""Reports rate, loss and refusals of all transition streams on /diagnostics and in the log."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from ompo_ros.nodes.parameters import TransitionMonitorParameters
from ompo_ros.nodes.wire.parameters import OVERRIDES, declare
from ompo_ros.nodes.wire.process import run
from ompo_ros.nodes.wire.transition_intake import TransitionIntake
from ompo_ros.transitions import Transitions


class TransitionMonitor(Node):
    """Subscribes like the learner and keeps only the counts."""

    def __init__(self) -> None:
        super().__init__("transition_monitor", **OVERRIDES)
        self._period = declare(self, TransitionMonitorParameters).period
        self._transitions = 0
        self._transitions_reported = 0
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._intake = TransitionIntake(self, self._take)
        self.create_timer(self._period, self._report)
        self.get_logger().info(f"listening for transitions, reporting every {self._period:g} s")

    def _take(self, transitions: Transitions) -> None:
        self._transitions += len(transitions)

    def _report(self) -> None:
        rate = (self._transitions - self._transitions_reported) / self._period
        self._transitions_reported = self._transitions
        counts, refused = self._intake.counts, self._intake.refused
        figures = {
            "transitions": self._transitions,
            "transitions_per_second": round(rate, 1),
            "batches": self._intake.received,
            "lost_batches": counts.lost,
            "refused_batches": refused,
            "collectors": len(counts.by_collector()),
        }
        sound = counts.lost == 0 and refused == 0
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if sound else DiagnosticStatus.WARN,
            name=f"{self.get_fully_qualified_name()}: transitions",
            message="nothing lost" if sound else "batches lost or refused",
            values=[KeyValue(key=key, value=str(value)) for key, value in figures.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)
        self.get_logger().info(", ".join(f"{key} {value}" for key, value in figures.items()))


def main() -> None:
    """Run the monitor until it is stopped."""
    run(TransitionMonitor)


if __name__ == "__main__":
    main()
