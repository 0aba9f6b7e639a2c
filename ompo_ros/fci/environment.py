"""The simulated robot's packages, in a folder of their own: they need an older numpy and MuJoCo than ours."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGES: Final = ("franka-sim==1.1.7", "mujoco==3.2.7", "numpy==1.26.4")
_PYTHONS: Final = ((3, 10), (3, 11), (3, 12))  # which have wheels of all of them
_ENOUGH: Final = 600.0  # s for a download


class NoSimulator(OSError):
    """The packages cannot be had; the message says what to do."""


def python() -> str:
    """Our interpreter as it is without any environment; `variables` adds the packages."""
    return str(getattr(sys, "_base_executable", sys.executable))


def variables(folder: Path) -> dict[str, str]:
    """The environment in which `python` finds the packages alone; no window is ever opened."""
    inherited = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
    return {**inherited, "PYTHONPATH": str(folder), "PYTHONNOUSERSITE": "1", "MUJOCO_GL": "disable"}


def simulator_folder() -> Path:
    """The folder with the packages; the first call downloads them (40 MB), whole or not at all."""
    version = sys.version_info[:2]
    if version not in _PYTHONS:
        raise NoSimulator(f"franka_sim needs Python 3.10 to 3.12, this is {version[0]}.{version[1]}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ompo_ros"
    names = "-".join(package.replace("==", "-") for package in PACKAGES)
    folder = cache / f"{names}-py{version[0]}.{version[1]}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(cache / "franka-sim.lock"):
            if not folder.exists():  # another process may have made it meanwhile
                _make(folder)
    return folder


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(folder: Path) -> None:
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    # Without their dependencies: those are for viewers, meshes and downloads of models.
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(unfinished), *PACKAGES]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=_ENOUGH)
    except subprocess.TimeoutExpired as error:
        raise NoSimulator(f"pip did not finish within {_ENOUGH:g} s: is the network there?") from error
    if result.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        last = (result.stderr.strip() or result.stdout.strip()).splitlines()[-3:]
        raise NoSimulator(f"pip could not install {' '.join(PACKAGES)}: {' / '.join(last)}")
    unfinished.rename(folder)
