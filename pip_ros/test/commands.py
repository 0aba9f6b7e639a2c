"""Runs the `ros2` command as a user does: in a process of its own, stopped by signals, judged by its output."""

import contextlib
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

ROS2 = str(Path(sys.executable).parent / "ros2")
PATIENCE = 300.0  # s; a limit of hangs alone
PREAMBLE = """
import sys
from launch import LaunchDescription
from launch.conditions import *
from launch.event_handlers import *
from launch.launch_description_sources import *
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.substitutions import *
import launch.events
from launch.actions import *

def python(code, **kwargs):
    return ExecuteProcess(cmd=[sys.executable, "-c", code], **{"output": "screen", "name": "child", **kwargs})
"""


def write_launch_file(path, entities, before=""):
    """Write a launch file whose description holds these entities."""
    body = textwrap.indent(textwrap.dedent(entities).strip(), " " * 8)
    head = f"{PREAMBLE}\n{textwrap.dedent(before)}\n"
    path.write_text(f"{head}def generate_launch_description():\n    return LaunchDescription([\n{body}\n    ])\n")
    return path


class Running:
    """A command under way, its output read as it comes."""

    def __init__(self, words, stderr) -> None:
        self.process = subprocess.Popen(
            [ROS2, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
        self.output = ""
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._news:
                self.output += line
                self._news.notify_all()

    def wait_for(self, text, times=1) -> None:
        """Wait until the text was written so many times."""
        with self._news:
            found = self._news.wait_for(lambda: self.output.count(text) >= times, PATIENCE)
        assert found, f"no {text!r} x {times} in:\n{self.output}"

    def number_after(self, text) -> int:
        """Wait for a text that a number follows, and give the number."""
        self.wait_for(text)
        return int(self.output.split(text, 1)[1].split()[0])

    def end(self, number=None) -> int:
        """Send a signal, if one is given; wait for the end, and give the exit code."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code


@contextlib.contextmanager
def started(*words, stderr=subprocess.STDOUT):
    """Run a command until the end of the block at the latest."""
    running = Running([str(word) for word in words], stderr)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def ros2(*words):
    """Run a command to its end; give the exit code and all it wrote."""
    with started(*words) as running:
        return running.end(), running.output


def gone(*pids):
    """Whether all these processes end, or have ended."""
    end = time.monotonic() + PATIENCE
    while any(_lives(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(_lives(pid) for pid in pids)


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
