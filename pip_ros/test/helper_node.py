"""The node that the tests of the `ros2` command look at."""

import contextlib

import rclpy
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, qos_profile_sensor_data
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from test_msgs.srv import Arrays


class Helper(Node):
    """Publishes and serves in the namespace /demo."""

    def __init__(self) -> None:
        super().__init__("helper", namespace="/demo")
        gain = FloatingPointRange(from_value=0.0, to_value=5.0)
        described = ParameterDescriptor(description="Of the loop.", floating_point_range=[gain])
        self.declare_parameter("control.gain", 2.5, described)
        for name, value in {"count": 1, "label": "blue", "enabled": True, "ratios": [0.5, 1.5]}.items():
            self.declare_parameter(name, value)
        self.add_on_set_parameters_callback(self._check)
        self._samples = self.create_publisher(Float64MultiArray, "samples", qos_profile_sensor_data)
        latched = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.create_publisher(String, "latched", latched).publish(String(data="kept"))
        self.create_timer(0.05, lambda: self._samples.publish(Float64MultiArray(data=[float(i) for i in range(200)])))
        self.create_service(SetBool, "set_bool", self._set_bool)
        self.create_service(Arrays, "repeat", self._repeat)

    def _check(self, parameters) -> SetParametersResult:
        bad = any(parameter.name == "count" and parameter.value < 0 for parameter in parameters)
        return SetParametersResult(successful=not bad, reason="count must not be negative" if bad else "")

    def _set_bool(self, request, response) -> SetBool.Response:
        response.success, response.message = request.data, f"got {request.data}"
        return response

    def _repeat(self, request, response) -> Arrays.Response:
        for name in request.get_fields_and_field_types():
            setattr(response, name, getattr(request, name))
        return response


if __name__ == "__main__":
    rclpy.init()
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Helper())
