"""`ros2 launch`: run a launch file, or show its arguments."""

import argparse
from pathlib import Path

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import (
    PythonLaunchDescriptionSource,
    get_launch_description_from_python_launch_file,
)
from launch.substitution import describe

from ros2cli.errors import CommandError
from ros2cli.packages import package_prefix


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-d", "--debug", action="store_true", help="Provide more verbose output, with tracebacks")
    parser.add_argument(
        "-s", "--show-args", "--show-arguments", action="store_true", help="Show arguments of the launch file"
    )
    parser.add_argument("package_name", help="Name of the package with the launch file, or path of a file")
    parser.add_argument("launch_file_name", nargs="?", help="Name of the launch file")
    parser.add_argument("launch_arguments", nargs="*", help="Arguments to the launch file; '<name>:=<value>'")


def launch(args: argparse.Namespace) -> int:
    """Run a launch file: exit code 0, or 1 where it raised an exception."""
    arguments = args.launch_arguments
    if Path(args.package_name).is_file():
        path = Path(args.package_name)
        arguments = [*([args.launch_file_name] if args.launch_file_name else []), *arguments]
    else:
        path = _in_package(args.package_name, args.launch_file_name)
    if args.show_args:
        return _show_arguments(path)
    service = LaunchService(debug=args.debug)
    source = PythonLaunchDescriptionSource(str(path))
    include = IncludeLaunchDescription(source, launch_arguments=_parsed(arguments).items())
    service.include_launch_description(LaunchDescription([include]))
    return service.run()


def _in_package(package: str, file_name: str | None) -> Path:
    if "/" in package or package.endswith(".py"):
        raise CommandError(f"launch file '{package}' does not exist")
    share = package_prefix(package) / "share" / package
    found = sorted(path for path in share.rglob("*launch.py") if path.name == file_name)
    if len(found) != 1:
        known = ", ".join(sorted(path.name for path in share.rglob("*launch.py"))) or "none"
        times = "was not found" if not found else "is more than once"
        raise CommandError(
            f"file '{file_name}' {times} in the share directory of package '{package}', which has: {known}"
        )
    return found[0]


def _parsed(arguments: list[str]) -> dict[str, str]:
    """Read `name:=value` arguments; of several with one name the last one wins."""
    parsed: dict[str, str] = {}
    for argument in arguments:
        name, _, value = argument.partition(":=")
        if not name or not value:
            raise CommandError(f"malformed launch argument '{argument}', expected format '<name>:=<value>'")
        parsed[name] = value
    return parsed


def _show_arguments(path: Path) -> int:
    try:
        declared = get_launch_description_from_python_launch_file(str(path)).get_launch_arguments()
    except Exception as error:
        raise CommandError(f"cannot read '{path}': {type(error).__name__}: {error}") from error
    print("Arguments (pass arguments as '<name>:=<value>'):")
    for argument in declared:
        print(f"\n    '{argument.name}':{'*' if argument.conditionally_included else ''}")
        print(f"        {argument.description}")
        if argument.default_value is not None:
            print(f"        (default: {describe(argument.default_value)})")
    if not declared:
        print("\n  No arguments.")
    elif any(argument.conditionally_included for argument in declared):
        print("\n* argument(s) which are only used if specific conditions occur")
    return 0


VERBS = {"": (_arguments, launch)}
