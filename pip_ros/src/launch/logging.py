"""Where a launch reports, and where the output of its processes goes."""

import contextlib
import datetime
import functools
import os
import socket
import sys
import time
from pathlib import Path

# Where the standard output and the standard error of a process go: to the screen, to launch.log.
_OUTPUTS = {
    "screen": ((True, False), (True, False)),
    "log": ((False, True), (True, True)),
    "both": ((True, True), (True, True)),
}


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
            print(line, flush=True)  # noqa: T201 - this is the launch's screen
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


def output_places(output: str) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """Whether standard output and standard error go to the screen and to launch.log."""
    if output not in _OUTPUTS:
        raise ValueError(f"output must be one of {', '.join(_OUTPUTS)}; got '{output}'")
    return _OUTPUTS[output]
