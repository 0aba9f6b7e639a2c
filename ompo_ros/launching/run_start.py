"""What a launch of a run begins with: its folder, a new run's or its own arguments, its identity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from launch.events import Shutdown

from ompo_ros.launching.arguments import InvalidArgument
from ompo_ros.launching.files import check_files
from ompo_ros.launching.parameter_file import read_parameters
from ompo_ros.launching.screen import say_last
from ompo_ros.reporting import resumption
from ompo_ros.run_id import run_id_of

_OWNERS = ("all", "learner")  # roles whose folder is the run's: checkpoints are there


@dataclass(frozen=True)
class Start:
    """The arguments to start with, and what to log; a run that is over has its report instead."""

    values: dict[str, str]
    lines: list[str] = field(default_factory=list)
    report: str = ""


def start_of(
    values: Mapping[str, str], given: Collection[str], rehearse: Callable[[Mapping[str, str]], None] = lambda _: None
) -> Start:
    """Take a new run's arguments, or those of the run in the folder but for what was given now.

    What cannot start, by our checks or in a rehearsal, raises an error and leaves nothing behind.
    """
    folder = folder_of(values)
    values = {**values, "run_dir": str(folder)}
    _check(folder, values)
    if values["resume"] != "true":
        return Start(_with_identity(folder, _kept(folder, values, rehearse)))
    values, changes = resumption.resumed_arguments(folder, values, given)
    check_files(values, read_parameters(Path(values["params_file"]), values))
    rehearse(values)
    report = resumption.finished_report(folder, int(values["target_steps"]))
    if report is not None:
        note = f"the run in {folder} is finished; a higher target_steps goes on with it"
        return Start(values, report=f"{note}\n\n{report}")
    return Start(_with_identity(folder, values), [f"resuming with {change}" for change in changes])


def say_how_to_resume(event: Shutdown, values: Mapping[str, str]) -> None:
    """After Ctrl-C, have the command that goes on with the run stand last."""
    folder = values["run_dir"]
    command = f"ros2 launch ompo_ros adapt.launch.py resume:=true run_dir:={folder}"

    def words() -> str:
        return f"interrupted; to go on: {command}" if resumption.holds_run(Path(folder)) else "interrupted at the start"

    if event.due_to_sigint and values["role"] == "all":
        say_last(words)


def folder_of(values: Mapping[str, str]) -> Path:
    """The folder of a run, a new one unless the user chose one."""
    return Path(values["run_dir"] or f"runs/{values['task']}-{datetime.now():%Y%m%d-%H%M%S}").resolve()


def _check(folder: Path, values: Mapping[str, str]) -> None:
    """A folder of its own for each run; an old one is gone on with only if that was asked for."""
    if values["role"] not in _OWNERS:
        return
    has_run = resumption.holds_run(folder)
    if has_run and values["resume"] != "true":
        raise RuntimeError(f"{folder} holds a run already: go on with it by resume:=true, or choose another run_dir.")
    if values["resume"] == "true" and not has_run:
        raise RuntimeError(f"{folder} holds no run to resume: give its folder as run_dir:=PATH.")
    if values["resume"] != "true" and folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise InvalidArgument(f"run_dir:={folder} holds other files and no run: give a new or an empty folder")


def _is_ours(folder: Path) -> bool:
    """Whether a launch left its arguments here; one that was refused by a node is started again in its folder."""
    return bool(resumption.kept_arguments(folder))


def _kept(folder: Path, values: Mapping[str, str], rehearse: Callable[[Mapping[str, str]], None]) -> dict[str, str]:
    """Leave with a new run what it is started with; another role's run in the same folder keeps its own."""
    parameters = read_parameters(Path(values["params_file"]), values)
    check_files(values, parameters)
    rehearse(values)
    if values["role"] not in _OWNERS and resumption.kept_arguments(folder):
        return dict(values)
    try:
        return resumption.keep_start(folder, values, parameters.named_files())
    except OSError as error:
        raise InvalidArgument(f"run_dir:={folder} cannot be written: {error.strerror}; choose another one") from error


def _with_identity(folder: Path, values: Mapping[str, str]) -> dict[str, str]:
    if values["run_id"] != "auto":
        return dict(values)
    return {**values, "run_id": run_id_of(folder) if values["role"] == "all" else ""}
