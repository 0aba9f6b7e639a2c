"""Runs `ros2 launch` as a user does: in a process of its own, stopped by signals, judged by its output."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROS2 = str(Path(sys.executable).parent / "ros2")
PATIENCE = 20.0


def _is_stand_in() -> bool:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return bool(importlib.metadata.version("pip_ros"))
    return False


beyond_genuine = pytest.mark.skipif(
    not _is_stand_in(), reason="the genuine package does less here; see pip_ros/README.md"
)

PREAMBLE = """
import sys
import launch
from launch import LaunchDescription
from launch.actions import *
from launch.conditions import *
from launch.event_handlers import *
from launch.launch_description_sources import *
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.parameter_descriptions import *
from launch_ros.substitutions import *
import launch.events, launch.events.process

def python(code, **kwargs):
    kwargs.setdefault("output", "screen")
    kwargs.setdefault("name", "child")
    return ExecuteProcess(cmd=[sys.executable, "-c", code], **kwargs)
"""


def write_launch_file(path: Path, entities: str, before: str = "") -> Path:
    """Write a launch file whose description holds these entities."""
    body = textwrap.indent(textwrap.dedent(entities).strip(), " " * 8)
    head = f"{PREAMBLE}\n{textwrap.dedent(before)}\n"
    text = f"{head}def generate_launch_description():\n    return LaunchDescription([\n{body}\n    ])\n"
    path.write_text(text)
    return path


class Launch:
    """A running `ros2 launch`, its output read as it comes."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(
            [ROS2, "launch", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._output = ""
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._output += line
                self._news.notify_all()

    @property
    def output(self) -> str:
        return self._output

    def wait_for(self, text: str, times: int = 1) -> None:
        """Wait until the text was written so many times."""
        with self._news:
            found = self._news.wait_for(lambda: self._output.count(text) >= times, PATIENCE)
        assert found, f"no {text!r} x {times} in:\n{self._output}"

    def number_after(self, text: str) -> int:
        """Wait for a text that a number follows, and give the number."""
        self.wait_for(text)
        return int(self._output.split(text, 1)[1].split()[0].strip("[],"))

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for the end, and give the exit code."""
        code = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def kill(self) -> None:
        """Leave nothing behind, also where the launch failed to."""
        for pid in [self._process.pid, *_descendants(self._process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children = [int(child) for child in (thread / "children").read_text().split()]
            found += [one for child in children for one in (child, *_descendants(child))]
    return found


@contextlib.contextmanager
def launched(*arguments: object) -> Iterator[Launch]:
    """Run `ros2 launch` until the end of the block at the latest."""
    launch = Launch([str(argument) for argument in arguments])
    try:
        yield launch
    finally:
        launch.kill()


def run_launch(*arguments: object) -> tuple[int, str]:
    """Run `ros2 launch` to its end; give the exit code and the output."""
    with launched(*arguments) as launch:
        return launch.end(), launch.output


def lives(pid: int) -> bool:
    """Tell whether a process is still there, other than as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(*pids: int) -> bool:
    """Tell whether all these processes end, or have ended."""
    end = time.monotonic() + PATIENCE
    while any(lives(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
