"""Where a launch reports, and where the output of its processes goes."""

from __future__ import annotations

import datetime
import functools
import logging
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

OutputSetting = str | Mapping[str, str | Iterable[str]]

_OUTPUT_ALIASES: dict[str, dict[str, set[str]]] = {
    "screen": {"both": {"screen"}},
    "log": {"both": {"log"}, "stderr": {"screen"}},
    "both": {"both": {"screen", "log"}},
    "own_log": {"both": {"own_log"}},
    "full": {"both": {"screen", "log", "own_log"}},
}


class _ScreenHandler(logging.Handler):
    """Writes to the standard output of this very moment, so that it can be redirected."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(form, style="{"))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stdout.write(self.format(record) + "\n")
            sys.stdout.flush()
        except (OSError, ValueError):
            self.handleError(record)


class LaunchConfig:
    """The level of the reports, and the folder of the log files."""

    def __init__(self) -> None:
        self.level = logging.INFO
        self._log_dir: Path | None = None
        self._files: dict[tuple[str, str], logging.Handler] = {}

    @property
    def log_dir(self) -> str:
        """The folder of this launch's log files, made when first asked for."""
        if self._log_dir is None:
            now = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
            self._log_dir = _log_base() / f"{now}-{socket.gethostname()}-{os.getpid()}"
            self._log_dir.mkdir(parents=True)
        return str(self._log_dir)

    @log_dir.setter
    def log_dir(self, path: str | os.PathLike[str]) -> None:
        if not Path(path).is_dir():
            raise ValueError(f"{path} is not a directory")
        self._log_dir = Path(path)

    def file_handler(self, name: str, form: str) -> logging.Handler:
        """Give the one handler that writes to this file in this form."""
        if (name, form) not in self._files:
            handler = logging.FileHandler(Path(self.log_dir) / name, encoding="utf-8", delay=True)
            handler.setFormatter(logging.Formatter(form, style="{"))
            self._files[name, form] = handler
        return self._files[name, form]


def _log_base() -> Path:
    if os.environ.get("ROS_LOG_DIR"):
        return Path(os.environ["ROS_LOG_DIR"]).expanduser()
    return Path(os.environ.get("ROS_HOME") or "~/.ros").expanduser() / "log"


launch_config = LaunchConfig()


class _LaunchLogger(logging.Logger):
    """A logger whose level is that of the launch."""

    def getEffectiveLevel(self) -> int:  # noqa: N802 - overrides the standard library's
        return launch_config.level

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - overrides the standard library's
        return level >= launch_config.level


@functools.cache
def get_logger(name: str = "launch") -> logging.Logger:
    """Give the logger of a part of the launch; its reports go to the screen and to launch.log."""
    logger = _LaunchLogger(name)
    logger.addHandler(_ScreenHandler("[{levelname}] [{name}]: {message}"))
    logger.addHandler(launch_config.file_handler("launch.log", "{created:.7f} [{levelname}] [{name}]: {message}"))
    return logger


def get_output_loggers(process_name: str, output_config: OutputSetting) -> tuple[logging.Logger, logging.Logger]:
    """Give the loggers of a process's standard output and standard error."""
    sinks = _sinks(output_config)
    return (_output_logger(process_name, "stdout", sinks), _output_logger(process_name, "stderr", sinks))


def _sinks(output_config: OutputSetting) -> dict[str, set[str]]:
    if isinstance(output_config, str):
        if output_config not in _OUTPUT_ALIASES:
            raise ValueError(f"output must be one of {', '.join(_OUTPUT_ALIASES)}; got '{output_config}'")
        return _OUTPUT_ALIASES[output_config]
    sinks = {source: {names} if isinstance(names, str) else set(names) for source, names in output_config.items()}
    if not set(sinks) <= {"stdout", "stderr", "both"} or not set().union(*sinks.values()) <= {
        "screen",
        "log",
        "own_log",
    }:
        raise ValueError(f"output maps stdout, stderr or both to screen, log or own_log; got {output_config!r}")
    return sinks


def _output_logger(process_name: str, source: str, sinks: Mapping[str, set[str]]) -> logging.Logger:
    logger = logging.Logger(f"{process_name}-{source}")
    wanted = sinks.get(source, set()) | sinks.get("both", set())
    if "screen" in wanted:
        logger.addHandler(_ScreenHandler("{message}"))
    if "log" in wanted:
        logger.addHandler(launch_config.file_handler("launch.log", "{created:.7f} {message}"))
    if "own_log" in wanted:
        logger.addHandler(launch_config.file_handler(f"{process_name}-{source}.log", "{message}"))
    if not wanted:
        logger.addHandler(logging.NullHandler())
    return logger
