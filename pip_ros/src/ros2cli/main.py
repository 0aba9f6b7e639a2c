"""Entry point of `ros2`: imports only the command that is asked for, so that it starts quickly."""

import argparse
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence

from ros2cli.errors import CommandError

# Each command is a module of this package. Its VERBS map each of these verbs, or "", to what adds its arguments and
# what runs it and returns the exit code.
COMMANDS = {
    "interface": ("show",),
    "launch": (),
    "node": ("info", "list"),
    "param": ("describe", "dump", "get", "list", "set"),
    "run": (),
    "service": ("call", "list"),
    "topic": ("echo", "hz", "info", "list", "pub"),
}


def overview() -> str:
    """All there is."""
    lines = [f"  ros2 {command} {' | '.join(verbs)}".rstrip() for command, verbs in COMMANDS.items()]
    return (
        "This ros2 is pip_ros, a small stand-in for the command of ROS 2. It has:\n"
        + "\n".join(lines)
        + "\nCall one with -h for its usage. For all else install ROS 2."
    )


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return 0
    command, *rest = words
    verb = ""
    if COMMANDS.get(command):
        verb = rest.pop(0) if rest else "-h"
    if verb in ("-h", "--help"):
        print(f"usage: ros2 {command} {' | '.join(COMMANDS[command])}")
        return 0
    if command not in COMMANDS or (verb and verb not in COMMANDS[command]):
        sys.stderr.write(f"'ros2 {command} {verb}".rstrip() + f"' is not here.\n{overview()}\n")
        return 2
    add_arguments, run = importlib.import_module(f"ros2cli.{command}").VERBS[verb]
    parser = argparse.ArgumentParser(prog=f"ros2 {command} {verb}".rstrip(), description=run.__doc__)
    add_arguments(parser)
    return int(run(parser.parse_args(rest)))


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
