"""`ros2 service`: list and call."""

import argparse

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.messages import fill_from_yaml, interface_class


def list_services(args: argparse.Namespace) -> int:
    """Output a list of available services."""
    with graph.graph_node() as node:
        graph.discover(node, args.spin_time)
        return graph.print_listing(node.get_service_names_and_types(), args)


def _call_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("service_name", help="Name of the ROS service to call to (e.g. '/add_two_ints')")
    parser.add_argument("service_type", help="Type of the ROS service (e.g. 'std_srvs/srv/Empty')")
    parser.add_argument("values", nargs="?", default="{}", help="Request in YAML (e.g. '{a: 1, b: 2}')")


def call(args: argparse.Namespace) -> int:
    """Call a service."""
    service = interface_class(args.service_type, "srv")
    request = service.Request()
    fill_from_yaml(request, args.values)
    with graph.graph_node() as node:
        client = node.create_client(service, args.service_name)
        if not graph.spin_until(node, client.service_is_ready, graph.SERVER_S):
            kinds = dict(node.get_service_names_and_types()).get(client.srv_name, [])  # our own among them
            others = [kind for kind in kinds if kind != args.service_type]
            seen = f"is of type {', '.join(others)}" if others else f"was not seen for {graph.SERVER_S:.0f} s"
            raise CommandError(f"Service '{client.srv_name}' {seen}")
        print(f"requester: making request: {request!r}\n")
        print(f"response:\n{graph.spin_for_result(node, client.call_async(request))!r}\n")
    return 0


VERBS = {"call": (_call_arguments, call), "list": (graph.add_listing_arguments, list_services)}
