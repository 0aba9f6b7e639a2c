"""`ompo enable`, `ompo disable`, `ompo goal` and `ompo key`: who may move the arm, and where it goes.

Exit codes: 0 done, 1 refused, missed or not begun, 2 wrong usage, 3 no arm node answers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ompo_ros.cli.exits import DONE, REFUSED, warn
from ompo_ros.signing import VARIABLE, new_key
from ompo_ros.words import ARM_NODES


def add_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verbs to the `ompo` command."""
    enable = commands.add_parser("enable", help="let an arm node move")
    enable.add_argument("--node", choices=ARM_NODES, default=ARM_NODES[0], help=f"which one (default: {ARM_NODES[0]})")
    enable.set_defaults(run=_set_enabled, enabled=True)
    disable = commands.add_parser("disable", help="brake arm nodes, which are silent then; no emergency stop")
    disable.add_argument("--node", choices=ARM_NODES, help="which one (default: all that are there)")
    disable.set_defaults(run=_set_enabled, enabled=False)
    goal = commands.add_parser("goal", help="send the arm of a policy_controller to a goal, and wait for it")
    for axis in "xyz":
        goal.add_argument(axis, type=float, help=f"{axis} in the base frame, m")
    goal.set_defaults(run=_send_goal)
    for verb in (enable, disable, goal):
        verb.add_argument("--namespace", default="/ompo", help="of the arm node (default: /ompo)")

    keys = commands.add_parser("key", help="keys that sign what moves the arm").add_subparsers(required=True)
    new = keys.add_parser("new", help="make a key file")
    new.add_argument("file", type=Path)
    new.set_defaults(run=_new_key)


def _set_enabled(arguments: argparse.Namespace) -> int:
    try:
        from ompo_ros.nodes.wire.enable_client import EnableClient
    except ImportError as error:
        raise ConnectionError(f"no ROS 2 here to reach an arm node ({error})") from error
    nodes = [arguments.node] if arguments.node else ARM_NODES
    client = EnableClient([f"{arguments.namespace.rstrip('/')}/{name}" for name in nodes])
    refused = False
    for name, answer in client.set_enabled(arguments.enabled):
        print(f"{name}: {answer.message}", file=sys.stdout if answer.success else sys.stderr, flush=True)
        refused = refused or not answer.success
    return REFUSED if refused else DONE


def _send_goal(arguments: argparse.Namespace) -> int:
    try:
        from ompo_ros.nodes.wire.goal_client import STANDS, GoalClient, RefusedGoal
    except ImportError as error:
        raise ConnectionError(f"no ROS 2 here to reach an arm node ({error})") from error
    missed = False
    try:
        for line in GoalClient(arguments.namespace).send((arguments.x, arguments.y, arguments.z)):
            print(line, flush=True)
            missed = " missed: " in line or line.startswith(STANDS)
    except RefusedGoal as refusal:
        warn(str(refusal))
        return REFUSED
    return REFUSED if missed else DONE


def _new_key(arguments: argparse.Namespace) -> int:
    new_key(arguments.file)
    print(f"{arguments.file}: copy it to every machine of the run, and set {VARIABLE} to its path there")
    return DONE
