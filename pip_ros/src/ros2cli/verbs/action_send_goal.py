"""`ros2 action send_goal`: an interrupted command cancels its goal before it leaves."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, get_action_names_and_types
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from ros2cli import graph
from ros2cli.errors import CommandError
from ros2cli.interface_types import interface_class
from ros2cli.message_fields import fill_from_yaml
from ros2cli.message_text import to_yaml

SERVER_TIMEOUT_S = 6.0  # twice as long as discovery can take
CANCEL_TIMEOUT_S = 5.0
_STATUS = {
    GoalStatus.STATUS_ACCEPTED: "ACCEPTED",
    GoalStatus.STATUS_EXECUTING: "EXECUTING",
    GoalStatus.STATUS_CANCELING: "CANCELING",
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the genuine verb."""
    parser.add_argument("action_name", help="Name of the ROS action (e.g. '/fibonacci')")
    parser.add_argument("action_type", help="Type of the ROS action (e.g. 'test_msgs/action/Fibonacci')")
    goal = parser.add_mutually_exclusive_group()
    goal.add_argument("goal", nargs="?", default="{}", help="Goal in YAML (e.g. '{order: 10}')")
    goal.add_argument("--stdin", action="store_true", help="Read goal from standard input")
    parser.add_argument("-f", "--feedback", action="store_true", help="Echo feedback messages for the goal")


def _wait_for_server(node: Node, client: ActionClient, name: str, type_name: str) -> None:
    print("Waiting for an action server to become available...")
    if graph.spin_until(node, client.server_is_ready, SERVER_TIMEOUT_S, graph.POLL_S):
        return
    full = node.resolve_service_name(name)
    # Our own client is among them.
    others = [other for other in dict(get_action_names_and_types(node)).get(full, []) if other != type_name]
    if others:
        raise CommandError(f"Action '{full}' is of type {', '.join(others)}, not {type_name}")
    raise CommandError(f"Action '{full}' does not exist: no server was seen for {SERVER_TIMEOUT_S:.0f} s")


def _print_feedback(message: Any) -> None:  # noqa: ANN401 - any action's feedback
    print(f"Feedback:\n    {to_yaml(message.feedback)}")


def _cancel(node: Node, sent: Future) -> None:
    """Take back a goal of which perhaps not even the acceptance has arrived."""
    if not graph.spin_until(node, sent.done, CANCEL_TIMEOUT_S) or not sent.result().accepted:
        return
    future = sent.result().cancel_goal_async()
    print("Canceling goal...")
    if graph.spin_until(node, future.done, CANCEL_TIMEOUT_S) and future.result().goals_canceling:
        print("Goal canceled.")
    else:
        sys.stderr.write("Failed to cancel goal\n")


def _await_outcome(node: Node, sent: Future) -> Any:  # noqa: ANN401 - any action's result
    """Wait for the result; None when the goal was rejected."""
    try:
        handle: ClientGoalHandle = graph.spin_for_result(node, sent)
        if not handle.accepted:
            return None
        print(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n")
        return graph.spin_for_result(node, handle.get_result_async())
    except BaseException:
        _cancel(node, sent)
        raise


def run(args: argparse.Namespace) -> int:
    """Send the goal and wait for its result."""
    action = interface_class(args.action_type, "action")
    goal = action.Goal()
    fill_from_yaml(goal, sys.stdin.buffer.read() if args.stdin else args.goal)
    with graph.graph_node() as node:
        client = ActionClient(node, action, args.action_name)
        _wait_for_server(node, client, args.action_name, args.action_type)
        print(f"Sending goal:\n     {to_yaml(goal)}")
        outcome = _await_outcome(node, client.send_goal_async(goal, _print_feedback if args.feedback else None))
    if outcome is None:
        print("Goal was rejected.")
        return 0
    print(f"Result:\n    {to_yaml(outcome.result)}")
    print(f"Goal finished with status: {_STATUS.get(outcome.status, 'UNKNOWN')}")
    return 0
