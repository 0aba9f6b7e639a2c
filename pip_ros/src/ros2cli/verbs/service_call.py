"""`ros2 service call`."""

from __future__ import annotations

import argparse
import sys
import time

from rclpy.client import Client
from rclpy.node import Node

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.interface_types import interface_class
from ros2cli.message_fields import fill_from_yaml

SERVICE_TIMEOUT_S = 6.0  # twice as long as discovery can take


def _rate(text: str) -> float:
    rate = float(text)
    if rate <= 0:
        raise argparse.ArgumentTypeError("rate must be greater than zero")
    return rate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    parser.add_argument("service_name", help="Name of the ROS service to call to (e.g. '/add_two_ints')")
    parser.add_argument("service_type", help="Type of the ROS service (e.g. 'std_srvs/srv/Empty')")
    values = parser.add_mutually_exclusive_group()
    values.add_argument("values", nargs="?", default="{}", help="Request in YAML (e.g. '{a: 1, b: 2}')")
    values.add_argument("--stdin", action="store_true", help="Read values from standard input")
    parser.add_argument("-r", "--rate", metavar="N", type=_rate, help="Repeat the call at a specific rate in Hz")


def _wait_for_service(node: Node, client: Client, name: str, type_name: str) -> None:
    if graph.spin_until(node, client.service_is_ready, graph.POLL_S, graph.POLL_S):
        return
    print("waiting for service to become available...")
    if graph.spin_until(node, client.service_is_ready, SERVICE_TIMEOUT_S, graph.POLL_S):
        return
    full = node.resolve_service_name(name)
    # Our own client is among them.
    others = [other for other in dict(node.get_service_names_and_types()).get(full, []) if other != type_name]
    if others:
        raise CommandError(f"Service '{full}' is of type {', '.join(others)}, not {type_name}")
    raise CommandError(f"Service '{full}' does not exist: none was seen for {SERVICE_TIMEOUT_S:.0f} s")


def run(args: argparse.Namespace) -> int:
    """Call the service once, or at a rate until interrupted."""
    service = interface_class(args.service_type, "srv")
    request = service.Request()
    fill_from_yaml(request, sys.stdin.buffer.read() if args.stdin else args.values)
    with graph.graph_node() as node:
        client = node.create_client(service, args.service_name)
        _wait_for_service(node, client, args.service_name, args.service_type)
        while True:
            called = time.monotonic()
            print(f"requester: making request: {request!r}\n")
            print(f"response:\n{graph.spin_for_result(node, client.call_async(request))!r}\n")
            if args.rate is None:
                return 0
            graph.spin_until(node, lambda: False, called + 1.0 / args.rate - time.monotonic())
