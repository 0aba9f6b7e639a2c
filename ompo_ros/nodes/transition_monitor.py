"""Shows whether experience arrives: rate, loss and refusals of both transition streams, on /diagnostics and the log."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ompo_msgs.msg import TransitionBatch
from rclpy.node import Node

from ompo_ros.conversions import transitions_from_msg
from ompo_ros.nodes import qos
from ompo_ros.nodes.main import run
from ompo_ros.nodes.parameters import declare, refuse_unknown
from ompo_ros.streams import StreamCounts
from ompo_ros.transitions import InvalidData


class TransitionMonitor(Node):
    """Subscribes like the learner does and keeps only the counts."""

    def __init__(self) -> None:
        super().__init__("transition_monitor")
        self._period = declare(self, "period", 2.0, "Seconds between two reports.", low=0.1, high=3600.0)
        refuse_unknown(self)
        self._counts = StreamCounts()
        self._transitions = 0
        self._transitions_reported = 0
        self._refused = 0
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        for stream in ("source", "target"):
            self.create_subscription(TransitionBatch, f"{stream}/transitions", self._on_batch, qos.TRANSITIONS)
        self.create_timer(self._period, self._report)
        self.get_logger().info(f"listening for transitions, reporting every {self._period:g} s")

    def _on_batch(self, msg: TransitionBatch) -> None:
        self._counts.count(msg.collector_id, msg.session, msg.sequence)
        try:
            self._transitions += len(transitions_from_msg(msg))
        except InvalidData as error:
            self._refused += 1
            self.get_logger().warning(f"refused a batch of {msg.collector_id!r}: {error}")

    def _report(self) -> None:
        rate = (self._transitions - self._transitions_reported) / self._period
        self._transitions_reported = self._transitions
        figures = {
            "transitions": self._transitions,
            "transitions_per_second": round(rate, 1),
            "batches": self._counts.received,
            "lost_batches": self._counts.lost,
            "refused_batches": self._refused,
            "collectors": len(self._counts.by_collector()),
        }
        sound = self._counts.lost == 0 and self._refused == 0
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if sound else DiagnosticStatus.WARN,
            name=f"{self.get_fully_qualified_name()}: transitions",
            message="nothing lost" if sound else "batches lost or refused",
            values=[KeyValue(key=key, value=str(value)) for key, value in figures.items()],
        )
        self._diagnostics.publish(DiagnosticArray(status=[status]))
        self.get_logger().info(", ".join(f"{key} {value}" for key, value in figures.items()))


def main() -> None:
    """Run the monitor until it is stopped."""
    run(TransitionMonitor)


if __name__ == "__main__":
    main()
