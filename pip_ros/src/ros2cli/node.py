"""`ros2 node`: who is there, and what each offers and uses."""

import argparse

from rclpy.action import get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from ros2cli import graph


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    graph.add_discovery_arguments(parser)
    parser.add_argument("-a", "--all", action="store_true", help="Display all nodes even hidden ones")


def list_nodes(args: argparse.Namespace) -> int:
    """Output a list of available nodes."""
    with graph.graph_node() as node:
        graph.discover(node, args.spin_time)
        for name in graph.node_names(node, hidden=args.all):
            print(name)
    return 0


def _info_arguments(parser: argparse.ArgumentParser) -> None:
    graph.add_discovery_arguments(parser)
    parser.add_argument("node_name", help="Name of the ROS node")
    parser.add_argument("--include-hidden", action="store_true", help="Display hidden topics and services as well")


def info(args: argparse.Namespace) -> int:
    """Output information about a node."""
    with graph.graph_node() as node:
        full = graph.require_node(node, args.node_name)
        namespace, _, name = full.rpartition("/")
        who = (name, namespace or "/")
        found = {
            "Subscribers": node.get_subscriber_names_and_types_by_node(*who),
            "Publishers": node.get_publisher_names_and_types_by_node(*who),
            "Service Servers": node.get_service_names_and_types_by_node(*who),
            "Service Clients": node.get_client_names_and_types_by_node(*who),
            "Action Servers": get_action_server_names_and_types_by_node(node, *who),
            "Action Clients": get_action_client_names_and_types_by_node(node, *who),
        }
    print(full)
    for title, entries in found.items():
        shown = [entry for entry in entries if args.include_hidden or not topic_or_service_is_hidden(entry[0])]
        print(f"  {title}:")
        print("\n".join(f"    {name}: {', '.join(types)}" for name, types in shown))
    return 0


VERBS = {"info": (_info_arguments, info), "list": (_list_arguments, list_nodes)}
