"""Entry point of `ros2`: finds the verb, imports that one only, so that start-up stays quick."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, cast

from ros2cli.errors import CommandError


class VerbModule(Protocol):
    """What every verb's module offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class Verb(NamedTuple):
    """A verb before it is imported."""

    module: str
    summary: str


class Group(NamedTuple):
    """A command that only exists to hold verbs."""

    summary: str
    verbs: Mapping[str, Verb]


COMMANDS: Mapping[str, Verb | Group] = {
    "action": Group(
        "Various action related sub-commands",
        {
            "list": Verb("ros2cli.verbs.action_list", "Output a list of action names"),
            "send_goal": Verb("ros2cli.verbs.action_send_goal", "Send an action goal"),
        },
    ),
    "interface": Group(
        "Show information about ROS interfaces",
        {
            "list": Verb("ros2cli.verbs.interface_list", "List all interface types available"),
            "package": Verb("ros2cli.verbs.interface_package", "Output the interface types of one package"),
            "show": Verb("ros2cli.verbs.interface_show", "Output the interface definition"),
        },
    ),
    "launch": Verb("ros2launch", "Run a launch file"),
    "node": Group(
        "Various node related sub-commands",
        {"list": Verb("ros2cli.verbs.node_list", "Output a list of available nodes")},
    ),
    "param": Group(
        "Various param related sub-commands",
        {
            "describe": Verb("ros2cli.verbs.param_describe", "Show descriptive information about declared parameters"),
            "get": Verb("ros2cli.verbs.param_get", "Get parameter"),
            "list": Verb("ros2cli.verbs.param_list", "Output a list of available parameters"),
            "set": Verb("ros2cli.verbs.param_set", "Set parameter"),
        },
    ),
    "pkg": Group(
        "Various package related sub-commands",
        {
            "executables": Verb("ros2cli.verbs.pkg_executables", "Output a list of package specific executables"),
            "list": Verb("ros2cli.verbs.pkg_list", "Output a list of available packages"),
            "prefix": Verb("ros2cli.verbs.pkg_prefix", "Output the prefix path of a package"),
        },
    ),
    "run": Verb("ros2cli.verbs.run", "Run a package specific executable"),
    "service": Group(
        "Various service related sub-commands",
        {
            "call": Verb("ros2cli.verbs.service_call", "Call a service"),
            "list": Verb("ros2cli.verbs.service_list", "Output a list of available services"),
        },
    ),
    "topic": Group(
        "Various topic related sub-commands",
        {
            "echo": Verb("ros2cli.verbs.topic_echo", "Output messages from a topic"),
            "hz": Verb("ros2cli.verbs.topic_hz", "Print the average publishing rate to screen"),
            "list": Verb("ros2cli.verbs.topic_list", "Output a list of available topics"),
        },
    ),
}


def _add_choices(
    parser: argparse.ArgumentParser, choices: Mapping[str, Verb | Group], words: Sequence[str]
) -> VerbModule | None:
    """Describe all choices but import only the one the words select."""
    subparsers = parser.add_subparsers(title="Commands", metavar=f"Call `{parser.prog} <command> -h` for its usage.")
    selected = None
    for name, choice in choices.items():
        subparser = subparsers.add_parser(name, help=choice.summary, description=choice.summary)
        subparser.set_defaults(usage=subparser)
        if words[:1] != [name]:
            continue
        if isinstance(choice, Group):
            selected = _add_choices(subparser, choice.verbs, words[1:])
        else:
            selected = cast(VerbModule, importlib.import_module(choice.module))
            selected.add_arguments(subparser)
    return selected


def _dispatch(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="ros2", description="ros2 is a command-line tool for ROS 2.")
    parser.set_defaults(usage=parser)
    verb = _add_choices(parser, COMMANDS, words)
    args = parser.parse_args(words)
    if verb is None:
        args.usage.print_help()
        return 0
    return verb.run(args)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one `ros2` command line; the exit codes are those of the genuine command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    try:
        return _dispatch(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return signal.SIGINT
    except BrokenPipeError:
        # The reader (`head`, `grep -q`) has what it wanted; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
