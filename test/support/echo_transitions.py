"""A second process for tests: takes every batch apart, puts it together again and sends it back."""

from ompo_msgs.msg import TransitionBatch
from rclpy.node import Node

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_from_msg, transitions_to_msg
from ompo_ros.nodes.wire.process import run


class Echo(Node):
    def __init__(self) -> None:
        super().__init__("echo_transitions")
        self._publisher = self.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
        self.create_subscription(TransitionBatch, "source/transitions", self._send_back, qos.TRANSITIONS)

    def _send_back(self, msg: TransitionBatch) -> None:
        again = transitions_to_msg(
            transitions_from_msg(msg),
            collector_id=msg.collector_id,
            session=msg.session,
            sequence=msg.sequence,
            stamp=msg.stamp,
        )
        self._publisher.publish(again)


if __name__ == "__main__":
    run(Echo)
