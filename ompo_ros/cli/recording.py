"""`ompo recording`: show, replay, extract and picture the recording of a run.

Exit codes: 0 done, 1 the recording or the request is refused, 2 wrong usage, 3 no ROS 2 to play it on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

FORMS = ("npz", "csv", "lerobot")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `recording` and its verbs to the `ompo` command."""
    verbs = commands.add_parser("recording", help="recorded runs").add_subparsers(required=True, dest="verb")
    info = verbs.add_parser("info", help="show what it contains and how far it can be read")
    replay = verbs.add_parser("replay", help="play it on its topics; refused where a robot or a run is connected")
    replay.add_argument("--speed", type=_speed, default=1.0, help="times as fast; 0: as fast as possible (default: 1)")
    extract = verbs.add_parser("extract", help="transitions as npz, joint motion as csv, episodes for LeRobot")
    extract.add_argument("form", choices=FORMS)
    extract.add_argument("out", type=Path, help="file to write; for lerobot, a new folder")
    picture = verbs.add_parser("picture", help="first and last evaluation side by side, as a moving picture")
    picture.add_argument("--goals", type=_goals, default=4, help="goals to show (default: 4)")
    picture.add_argument("out", type=Path, help="GIF to write")
    for verb in (info, replay, extract, picture):
        verb.add_argument("paths", type=Path, nargs="+", metavar="path", help="a recording, or the folder of a run")
        verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Import the verbs only now: the other commands do not need mcap."""
    try:
        from ompo_ros.cli.recording_verbs import run
    except ImportError as error:
        raise OSError(f"{error}: pip install 'ompo_ros[recording]'") from error
    return run(arguments)


def _goals(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of goals: 1 to 100")
    return int(text)


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no speed: 1 is as recorded, 2 twice as fast, 0 without waiting")
    return value
