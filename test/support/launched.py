"""`ros2 launch` as a user starts it: in a process group of its own, its output in a file."""

import re
import signal
import subprocess
import time
from pathlib import Path

from waiting import PATIENCE


class Launched:
    """One launch file under way."""

    def __init__(self, folder: Path, launch_file: str, arguments: dict[str, object]) -> None:
        command = ["ros2", "launch", "ompo_ros", launch_file, *(f"{k}:={v}" for k, v in arguments.items())]
        self.log = (folder / f"log-{time.monotonic_ns()}.txt").open("w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)

    @property
    def output(self) -> str:
        return Path(self.log.name).read_text()

    def wait_for(self, pattern: str, times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE
        while len(re.findall(pattern, self.output)) < times:
            assert self.process.poll() is None, f"ended with {self.process.returncode}:\n{self.output}"
            assert time.monotonic() < deadline, f"no {pattern!r} in {PATIENCE:g} s:\n{self.output}"
            time.sleep(0.1)

    def pid_of(self, node: str) -> int:
        """The newest process of a node."""
        return int(re.findall(rf"\[{node}-\d+\]: process started with pid \[(\d+)\]", self.output)[-1])

    def end(self) -> int:
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not ended after {PATIENCE:g} s:\n{self.output}") from None

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def clean_up(self) -> None:
        if self.process.poll() is None:
            self.interrupt()

    def left_behind(self) -> list[str]:
        pids = re.findall(r"process started with pid \[(\d+)\]", self.output)
        return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def shown_arguments(launch_file: str) -> str:
    """What `--show-args` tells."""
    command = ["ros2", "launch", "ompo_ros", launch_file, "--show-args"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
