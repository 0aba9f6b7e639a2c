"""A test's own node on the graph, which waits for conditions and never for times."""

import time

import rclpy
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from waiting import PATIENCE


class Probe:
    """Publishes, subscribes and calls from the test's process."""

    def __init__(self, namespace: str = "") -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = Node("probe", context=self.context, namespace=namespace)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.clients: dict[str, Client] = {}
        self.executor.add_node(self.node)

    def listen(self, kind, topic, profile) -> list:
        """A list that fills with what arrives."""
        heard: list = []
        self.node.create_subscription(kind, topic, heard.append, profile)
        return heard

    def spin_until(self, condition, hint=lambda: "") -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, hint() or f"not within {PATIENCE:g} s"
            self.executor.spin_once(timeout_sec=0.02)  # tests play robots, whose states come more often

    def wait_for_more(self, heard: list, count: int = 1) -> None:
        """Wait for what is sent from now on, such as reports of a node that went on in between."""
        enough = len(heard) + count
        self.spin_until(lambda: len(heard) >= enough)

    def wait_for_silence(self, heard: list, reports: list) -> None:
        """Wait for two reports with nothing heard between them: the sender lives, and sends nothing else."""
        self.wait_for_more(reports)
        for _ in range(20):
            before = len(heard)
            self.wait_for_more(reports)
            if len(heard) == before:
                return
        raise AssertionError(f"not silent, {len(heard)} messages were heard by now")

    def call(self, kind, name, request):
        """Call by one client a service: a server drops its answer to a client that it has not found yet."""
        if name not in self.clients:
            self.clients[name] = self.node.create_client(kind, name)
            self.spin_until(self.clients[name].service_is_ready)
        future = self.clients[name].call_async(request)
        self.spin_until(future.done)
        return future.result()

    def close(self) -> None:
        self.node.destroy_node()
        self.context.try_shutdown()
