"""A test's own node on the graph, which waits for conditions and never for times."""

import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


class Probe:
    """Publishes, subscribes and calls from the test's process."""

    def __init__(self, namespace: str = "") -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = Node("probe", context=self.context, namespace=namespace)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def listen(self, kind, topic, profile) -> list:
        """A list that fills with what arrives."""
        heard: list = []
        self.node.create_subscription(kind, topic, heard.append, profile)
        return heard

    def spin_until(self, condition, timeout=30.0, hint=lambda: "") -> None:
        deadline = time.monotonic() + timeout
        while not condition() and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.02)  # tests play robots, whose states come more often
        assert condition(), hint()

    def spin_for(self, seconds) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.05)

    def call(self, kind, name, request):
        client = self.node.create_client(kind, name)
        self.spin_until(client.service_is_ready)
        future = client.call_async(request)
        self.spin_until(future.done)
        return future.result()

    def close(self) -> None:
        self.node.destroy_node()
        self.context.try_shutdown()
