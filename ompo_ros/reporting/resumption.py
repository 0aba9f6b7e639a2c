"""A run's arguments and files, kept in its folder for the launch that resumes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import yaml

from ompo_ros.files import write_whole
from ompo_ros.reporting.explanation import README, explanation
from ompo_ros.reporting.kept_files import is_path, keep_files, kept_copy
from ompo_ros.reporting.run_folder import METRICS, RECORD, REPORT, read_record

ARGUMENTS = "launch.json"
PARAMETERS = "params.yaml"
# Arguments that define a run; with others it is another run. The parameter file is one of them, by content.
DEFINING = (
    "task",
    "reward",
    "target",
    "target_domain",
    "robot",
    "setting",
    "algorithm",
    "pretrained",
    "warm_start",
    "demonstrations",
    "seed",
)
FILES = {"robot": "robots", "target_domain": "domains"}  # arguments that may name a file, and its kind
_OF_THE_COMMAND = ("resume", "run_dir")  # never kept


class CannotResume(ValueError):
    """A run that cannot be resumed as asked; the message says what to do."""


def holds_run(folder: Path) -> bool:
    """Whether something was learned or recorded here; settings alone do not make a run."""
    return any((folder / name).exists() for name in ("checkpoints", METRICS, RECORD))


def keep_start(folder: Path, arguments: Mapping[str, str], named: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Store a new run's arguments and files, including those `named` elsewhere; returns the arguments to use."""
    keep_files(folder, [*((kind, arguments[name]) for name, kind in FILES.items() if name in arguments), *named])
    write_whole(folder / PARAMETERS, Path(arguments["params_file"]).read_bytes())
    own = {**arguments, **_own_files(folder, arguments)}
    keep_arguments(folder, own)
    write_whole(folder / README, explanation().encode())
    return own


def _own_files(folder: Path, arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments that name a file copied by the run, each with the copy's current path."""
    copies = {name: kept_copy(folder, kind, arguments.get(name, "")) for name, kind in FILES.items()}
    if (folder / PARAMETERS).exists():
        copies["params_file"] = str(folder / PARAMETERS)
    return {name: copy for name, copy in copies.items() if copy}


def keep_arguments(folder: Path, arguments: Mapping[str, str]) -> None:
    """Write the arguments of a resumed run if they have changed."""
    kept = {name: value for name, value in arguments.items() if name not in _OF_THE_COMMAND}
    path, content = folder / ARGUMENTS, (json.dumps(kept, indent=2) + "\n").encode()
    if not path.exists() or path.read_bytes() != content:
        write_whole(path, content)


def kept_arguments(folder: Path) -> dict[str, str]:
    """The arguments of the run in a folder; none if it was started without the launch file."""
    path = folder / ARGUMENTS
    try:
        return dict(json.loads(path.read_text())) if path.exists() else {}
    except ValueError as error:
        raise CannotResume(
            f"{path} is damaged ({error}): move it away, and give the run's arguments again to resume it."
        ) from error


def resumed_arguments(
    folder: Path, arguments: Mapping[str, str], given: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """The run's own arguments, replaced by those given now, and a line for each change."""
    kept = kept_arguments(folder)
    own = _own_files(folder, kept)
    changed = []
    for name in sorted(set(given) & set(kept)):
        if name in own and (name == "params_file" or is_path(arguments[name])):
            _refuse_other_file(name, Path(arguments[name]), Path(own[name]))
        elif arguments[name] != kept[name]:
            changed.append(name)
    for name in changed:
        if name in DEFINING:
            raise CannotResume(
                f"{name}:={arguments[name]} does not fit the run in {folder}, which was started with "
                f"{name}:={kept[name]}: leave {name} out to resume it, or choose another run_dir for a new run."
            )
    lines = [f"{name}: {arguments[name]} instead of {kept[name]}" for name in changed]
    return {**arguments, **kept, **own, **{name: arguments[name] for name in changed}}, lines


def _refuse_other_file(name: str, file: Path, own: Path) -> None:
    if yaml.safe_load(own.read_text()) != yaml.safe_load(file.read_text()):
        raise CannotResume(
            f"{name}:={file} differs from {own}, which the run was started with: leave {name} out to resume "
            "it, or choose another run_dir for a new run."
        )


def finished_report(folder: Path, target_steps: int) -> str | None:
    """The report of a finished run; None if steps or evaluations remain."""
    try:
        finished, path = read_record(folder).get("finished", 0), folder / REPORT
    except (ValueError, RecursionError):
        return None  # the run manager continues without it and logs why
    return path.read_text() if 0 < target_steps <= finished and path.exists() else None
