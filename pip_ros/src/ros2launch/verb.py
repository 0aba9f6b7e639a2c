"""`ros2 launch`: run a launch file, or show its arguments."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import (
    PythonLaunchDescriptionSource,
    get_launch_description_from_python_launch_file,
)

from .launch_files import UsageError, find_launch_file, parse_launch_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `ros2 launch` understands."""
    parser.add_argument(
        "-n",
        "--noninteractive",
        action="store_true",
        default=not sys.stdin.isatty(),
        help="Run the launch system non-interactively, with no terminal associated",
    )
    parser.add_argument("-d", "--debug", action="store_true", help="Provide more verbose output, with tracebacks")
    parser.add_argument(
        "-s",
        "--show-args",
        "--show-arguments",
        action="store_true",
        help="Show arguments that may be given to the launch file",
    )
    parser.add_argument(
        "-a",
        "--show-all-subprocesses-output",
        action="store_true",
        help="Show all output of all processes, whatever the launch file says",
    )
    parser.add_argument(
        "package_name", help="Name of the ROS package which contains the launch file, or path of a file"
    )
    parser.add_argument("launch_file_name", nargs="?", help="Name of the launch file")
    parser.add_argument("launch_arguments", nargs="*", help="Arguments to the launch file; '<name>:=<value>'")


def run(args: argparse.Namespace) -> int:
    """Do what the command line asks; the result is the exit code."""
    given = [] if args.launch_file_name is None else [args.launch_file_name]
    try:
        if Path(args.package_name).is_file():
            path, arguments = Path(args.package_name), [*given, *args.launch_arguments]
        else:
            path, arguments = _in_package(args.package_name, args.launch_file_name), args.launch_arguments
        if args.show_args:
            return _show_arguments(path, debug=args.debug)
        if args.show_all_subprocesses_output:
            os.environ["OVERRIDE_LAUNCH_PROCESS_OUTPUT"] = "both"
        return _launch(path, arguments, noninteractive=args.noninteractive, debug=args.debug)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _in_package(package: str, file_name: str | None) -> Path:
    if package.endswith(".py") or "/" in package:
        raise UsageError(f"launch file '{package}' does not exist")
    return find_launch_file(package, file_name)


def _launch(path: Path, arguments: list[str], *, noninteractive: bool, debug: bool) -> int:
    service = LaunchService(argv=arguments, noninteractive=noninteractive, debug=debug)
    source = PythonLaunchDescriptionSource(str(path))
    include = IncludeLaunchDescription(source, launch_arguments=parse_launch_arguments(arguments))
    service.include_launch_description(LaunchDescription([include]))
    return service.run() or int(service.context.required_process_died)


def _show_arguments(path: Path, *, debug: bool) -> int:
    try:
        description = get_launch_description_from_python_launch_file(str(path))
        declared = description.get_launch_arguments()
    except Exception as error:
        if debug:
            traceback.print_exc()
        raise UsageError(f"cannot read '{path}': {type(error).__name__}: {error}") from error
    lines = ["Arguments (pass arguments as '<name>:=<value>'):"]
    for argument in declared:
        lines += ["", f"    '{argument.name}':{'*' if argument.conditionally_included else ''}"]
        lines += [f"        {argument.description}"]
        if argument.default_value is not None:
            lines += [f"        (default: {' + '.join(part.describe() for part in argument.default_value)})"]
    if not declared:
        lines += ["", "  No arguments."]
    elif any(argument.conditionally_included for argument in declared):
        lines += ["", "* argument(s) which are only used if specific conditions occur"]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
