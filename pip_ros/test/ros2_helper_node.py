"""The node that the tests of the `ros2` command look at: one of everything."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, qos_profile_sensor_data
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from test_msgs.action import Fibonacci
from test_msgs.msg import Arrays
from test_msgs.srv import Arrays as ArraysService

PARAMETERS: dict[str, Any] = {
    "count": 1,
    "gain": 2.5,
    "label": "blue",
    "enabled": True,
    "ratios": [0.5, 1.5],
    "ids": [1, 2],
}
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class Helper(Node):
    """Publishes, serves and acts in the namespace /demo."""

    def __init__(self) -> None:
        super().__init__("helper", namespace="/demo")
        for name, value in PARAMETERS.items():
            self.declare_parameter(name, value)
        self.add_on_set_parameters_callback(self._refuse_negative_count)
        self._chatter = self.create_publisher(String, "chatter", 10)
        self._samples = self.create_publisher(Float64MultiArray, "samples", qos_profile_sensor_data)
        self._canceled = self.create_publisher(String, "canceled", LATCHED)
        self._latched = self.create_publisher(String, "latched", LATCHED)
        self._latched.publish(String(data="kept"))
        self._arrays = self.create_publisher(Arrays, "arrays", LATCHED)
        self._arrays.publish(Arrays(byte_values=[b"\x01", b"a", b"\xff"], string_values=["é", "", "yes"]))
        self.create_timer(0.05, self._publish)
        self.create_service(Trigger, "trigger", self._trigger)
        self.create_service(SetBool, "set_bool", self._set_bool)
        self.create_service(ArraysService, "repeat", self._repeat)
        self._action = ActionServer(
            self,
            Fibonacci,
            "fibonacci",
            self._fibonacci,
            goal_callback=lambda goal: GoalResponse.REJECT if goal.order < 0 else GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def _publish(self) -> None:
        self._chatter.publish(String(data="hello"))
        self._samples.publish(Float64MultiArray(data=[float(i) for i in range(200)]))

    def _refuse_negative_count(self, parameters: list[Any]) -> SetParametersResult:
        bad = any(parameter.name == "count" and parameter.value < 0 for parameter in parameters)
        return SetParametersResult(successful=not bad, reason="count must not be negative" if bad else "")

    def _trigger(self, request: Any, response: Any) -> Any:
        response.success, response.message = True, "done"
        return response

    def _set_bool(self, request: Any, response: Any) -> Any:
        response.success, response.message = request.data, f"got {request.data}"
        return response

    def _repeat(self, request: Any, response: Any) -> Any:
        for name in request.get_fields_and_field_types():
            setattr(response, name, getattr(request, name))
        return response

    def _fibonacci(self, goal: Any) -> Any:
        sequence = [0, 1]
        for _ in range(goal.request.order - 1):
            if goal.is_cancel_requested:
                goal.canceled()
                self._canceled.publish(String(data="canceled"))
                return Fibonacci.Result(sequence=sequence)
            sequence.append((sequence[-1] + sequence[-2]) % 1000)
            goal.publish_feedback(Fibonacci.Feedback(sequence=sequence))
            time.sleep(0.02)
        goal.succeed()
        return Fibonacci.Result(sequence=sequence)


def main() -> None:
    """Serve until told to stop."""
    rclpy.init()
    executor = MultiThreadedExecutor(num_threads=3)
    executor.add_node(Helper())
    print("ready", flush=True)  # noqa: T201
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == "__main__":
    main()
