"""Where a launch reports, and where the output of its processes goes."""

import contextlib
import datetime
import functools
import io
import os
import socket
import sys
import time
from pathlib import Path

Places = dict[str, set[str]]  # of "stdout" and "stderr": those of "screen" and "log" they go to
_OUTPUTS: dict[str, Places] = {
    "screen": {"stdout": {"screen"}, "stderr": {"screen"}},
    "log": {"stdout": {"log"}, "stderr": {"screen", "log"}},
    "both": {"stdout": {"screen", "log"}, "stderr": {"screen", "log"}},
}


class ScreenHandler:
    """Where the screen is, as a launch file may change it."""

    def __init__(self) -> None:
        self.stream: io.TextIOBase | None = None  # None: the standard output

    def setStream(self, stream: io.TextIOBase) -> None:  # noqa: N802 - as Python's own handlers spell it
        self.stream = stream


class LaunchConfig:
    """The part of launch's logging that a launch file may change."""

    def __init__(self) -> None:
        self._screen = ScreenHandler()

    def get_screen_handler(self) -> ScreenHandler:
        return self._screen


launch_config = LaunchConfig()


@functools.cache
def log_dir() -> Path:
    """The folder of this launch's log file, made when first asked for."""
    home = Path(os.environ.get("ROS_HOME") or "~/.ros").expanduser() / "log"
    base = Path(os.environ["ROS_LOG_DIR"]).expanduser() if os.environ.get("ROS_LOG_DIR") else home
    now = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
    folder = base / f"{now}-{socket.gethostname()}-{os.getpid()}"
    folder.mkdir(parents=True)
    return folder


def write(line: str, screen: bool = True, log: bool = True) -> None:
    """Write one line to the screen and to launch.log; a closed pipe or a full disk is no reason to end a launch."""
    if screen:
        try:
            print(line, flush=True, file=launch_config.get_screen_handler().stream)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if log:
        with contextlib.suppress(OSError), (log_dir() / "launch.log").open("a", encoding="utf-8") as file:
            file.write(f"{time.time():.7f} {line}\n")


class Logger:
    """Reports of one part of the launch."""

    debugging = False

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, message: str) -> None:
        if self.debugging:
            write(f"[DEBUG] [{self._name}]: {message}")

    def info(self, message: str) -> None:
        write(f"[INFO] [{self._name}]: {message}")

    def warning(self, message: str) -> None:
        write(f"[WARNING] [{self._name}]: {message}")

    def error(self, message: str) -> None:
        write(f"[ERROR] [{self._name}]: {message}")


def get_logger(name: str = "launch") -> Logger:
    """Give the logger of a part of the launch."""
    return Logger(name)


def output_places(output: str | Places) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """Whether standard output and standard error go to the screen and to launch.log."""
    if isinstance(output, str) and output not in _OUTPUTS:
        raise ValueError(f"output must be one of {', '.join(_OUTPUTS)}; got '{output}'")
    places = _OUTPUTS[output] if isinstance(output, str) else output
    if unknown := {*places} - {"stdout", "stderr"} | set().union(*places.values()) - {"screen", "log"}:
        raise ValueError(f"output may send stdout and stderr to screen and log; got '{unknown.pop()}'")
    stdout, stderr = (places.get(stream, set()) for stream in ("stdout", "stderr"))
    return ("screen" in stdout, "log" in stdout), ("screen" in stderr, "log" in stderr)
