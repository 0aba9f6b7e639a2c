"""A launch's screen: on a terminal short coloured lines above one line of progress, in a file all lines as they are."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import Final, TextIO

from launch import logging

from ompo_ros.to_launch import REFUSED

_NODES: Final = re.compile(r"\[([\w.]+)-\d+\] \[(\w+)\] \[[\d.]+\] \[[^]]*\]: (.*)")  # a line of a node's log
_LAUNCHS: Final = re.compile(r"\[(\w+)\] \[([\w.]+?)(?:-\d+)?\]: (.*)", re.DOTALL)
_DIED: Final = re.compile(r"process has died \[pid \d+, exit code (-?\d+),.*", re.DOTALL)
_HIDDEN: Final = ("process started", "process has finished cleanly", "process[", "sending signal")
ENDING: Final = "ending: "  # begins what a launch says when it ends by itself
_FAILED: Final = "Caught exception in launch (see debug for traceback): "
_BETWEEN: Final = " | "  # between two figures of a line of progress
_PRINTED: Final = re.compile(r"\[([\w.]+)-\d+\] (.*)")  # what a node prints
_COLOURS: Final = {"WARN": 33, "WARNING": 33, "ERROR": 31}
_CYAN: Final = 36


class Screen(io.TextIOBase):
    """Takes a launch's lines for a terminal; what it leaves out or cuts short is in launch.log."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._colours = "NO_COLOR" not in os.environ
        self._unfinished = self._progress = ""
        self._is_ending = False

    def write(self, text: str) -> int:
        *lines, self._unfinished = (self._unfinished + text).split("\n")
        for line in lines:
            if (short := self._shortened(line)) is not None:
                self._put(f"{short}\n")
        return len(text)

    def flush(self) -> None:
        self._terminal.flush()

    def draw(self, progress: str) -> None:
        """Replace the line of progress; an empty one takes it away."""
        self._progress = progress
        self._put("")

    def _shortened(self, line: str) -> str | None:
        """The part of a line that a person needs, or None."""
        if launchs := _LAUNCHS.fullmatch(line):
            return self._of_launch(*launchs.groups())
        if node := _NODES.fullmatch(line):
            name, level, text = node.groups()
            return None if level == "FATAL" else self._coloured(f"{name}: {text}", _COLOURS.get(level))
        if printed := _PRINTED.fullmatch(line):
            return None if self._is_ending else f"{printed[1]}: {printed[2]}"  # of the end: tracebacks
        return line

    def _of_launch(self, level: str, name: str, text: str) -> str | None:
        colour = _COLOURS.get(level)
        if text.startswith("user interrupted"):
            self._is_ending = True
            return "stopping"
        if text.startswith(_FAILED):
            self._is_ending = True
            return None if _last_words else self._coloured(text.removeprefix(_FAILED), colour)
        if text.startswith(ENDING):
            self._is_ending = True
        if died := _DIED.fullmatch(text):
            known = self._is_ending or int(died[1]) == REFUSED
            return None if known else self._coloured(f"{name} died, exit code {died[1]}", colour)
        return None if text.startswith(_HIDDEN) else self._coloured(text, colour)

    def _coloured(self, text: str, colour: int | None) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if colour and self._colours else text

    def _put(self, line: str) -> None:
        """Write a line above the progress."""
        progress = self._coloured(_fitted(self._progress, shutil.get_terminal_size().columns - 1), _CYAN)
        self._terminal.write(f"\r\x1b[K{line}{progress if self._progress else ''}")
        self._terminal.flush()


def _fitted(progress: str, columns: int) -> str:
    """As many figures as fit, each of them whole."""
    if len(progress) <= columns:
        return progress
    whole, _, _ = progress[: columns + len(_BETWEEN)].rpartition(_BETWEEN)
    return (whole or progress)[:columns]


_screen: Screen | None = None  # a process has one, and ends once
_last_words: list[Callable[[], str]] = []


def use_terminal() -> None:
    """Draw on the terminal if the launch has one."""
    global _screen
    if _screen is None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        _screen = Screen(sys.stdout)
        logging.launch_config.get_screen_handler().setStream(_screen)
        atexit.register(draw, "")


def is_terminal() -> bool:
    """Whether progress is drawn."""
    return _screen is not None


def draw(progress: str) -> None:
    """Show how a run goes, where there is a terminal."""
    if _screen is not None:
        with contextlib.suppress(OSError):
            _screen.draw(progress)


def say_last(words: Callable[[], str]) -> None:
    """Have a line stand below all others, made when the launch's process ends; the first to ask has it."""
    if not _last_words:
        _last_words.append(words)
        atexit.register(_say_last)


def _say_last() -> None:
    draw("")
    with contextlib.suppress(OSError):
        sys.stdout.write(f"{_last_words[0]()}\n")
        sys.stdout.flush()
