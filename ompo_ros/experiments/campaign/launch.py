"""One adaptation run: launched as a user does, and restarted after faults until it has its report."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.experiments.campaign import shared_memory
from ompo_ros.experiments.campaign.faults import FCI

PARAMETERS = """
/**/learner:
  ros__parameters:
    warmup: 128
    source_ratio: 1.0
    update_to_data: 0.5
    publish_period: 1.0
    checkpoint_period: 2.0
    learning: {hidden_size: 32, batch_size: 64, local_capacity: 100, global_capacity: 20000, threads: 1}
/**/source_collector:
  ros__parameters: {arms: 4, batch_steps: 8}
/**/policy_server:
  ros__parameters: {gate: false}
/**/run_manager:
  ros__parameters: {episodes_before: 1, episodes_after: 2, progress_period: 2.0}
/**/recorder:
  ros__parameters: {split_size: 2, max_size: 20, keep_free: 0}
"""
_PATIENCE = 120.0  # s allowed for a launch to end after a signal


@dataclass
class Launch:
    """One `ros2 launch`: its process, its log, and when it ran (s, monotonic)."""

    process: subprocess.Popen[bytes]
    log: Path
    begin: float
    end: float | None = None

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")


class Run:
    """A run's folder, and the launches that work on it."""

    def __init__(
        self, folder: Path, run_dir: Path, driver: str, steps: int, seed: int, environment: dict[str, str]
    ) -> None:
        self.folder, self.run_dir = folder, run_dir
        self._driver, self._steps, self._seed, self._environment = driver, steps, seed, environment
        self.launches: list[Launch] = []
        self._left_behind: set[Path] = set()  # shared memory of killed nodes
        (folder / "params.yaml").write_text(PARAMETERS)

    def start(self) -> None:
        """Launch, with resume if the folder holds a run."""
        resume = self._holds_run()
        arguments = {
            **self._robot(),
            "pretrained": "none",
            "target_steps": self._steps,
            "seed": self._seed,
            "params_file": self.folder / "params.yaml",
            "run_dir": self.run_dir,
            "resume": str(resume).lower(),
        }
        command = ["ros2", "launch", "ompo_ros", "adapt.launch.py", *(f"{k}:={v}" for k, v in arguments.items())]
        log = self.folder / f"launch-{len(self.launches)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, env=self._environment
            )
        self.launches.append(Launch(process, log, time.monotonic()))

    def _robot(self) -> dict[str, str]:
        if self._driver == FCI:
            return {"target": "franka_sim", "target_domain": "nominal"}
        return {"target": "mujoco", "target_domain": "paper", **({"driver": self._driver} if self._driver else {})}

    def _holds_run(self) -> bool:
        """Whether to resume, as a user would who reads the last launch's output."""
        if self.launches and "no run to resume" in self.current.output:
            return False
        return any((self.run_dir / name).exists() for name in ("checkpoints", "metrics.csv", "record.json"))

    @property
    def reflexes(self) -> int:
        """How often the robot stopped itself."""
        return sum(launch.output.count("stopped: reflex") for launch in self.launches)

    @property
    def current(self) -> Launch:
        return self.launches[-1]

    @property
    def is_up(self) -> bool:
        """Whether the launch still runs; notes when it ended."""
        launch = self.current
        if launch.process.poll() is not None and launch.end is None:
            launch.end = time.monotonic()
        return launch.end is None

    @property
    def has_report(self) -> bool:
        """Whether the last launch ended as it should, and left an evaluated report."""
        report = self.run_dir / "report.md"
        if self.is_up or self.current.process.returncode != 0 or not report.exists():
            return False
        return re.search(r"\| after \| \d+%", report.read_text()) is not None

    def pid_of(self, node: str) -> int | None:
        """The newest process of a node, if it lives."""
        pids = re.findall(rf"\[{node}-\d+\]: process started with pid \[(\d+)\]", self.current.output)
        return int(pids[-1]) if pids and _is_node(int(pids[-1])) else None

    def kill(self, pid: int) -> bool:
        """Kill a node as a crash does; returns whether it was running."""
        self._left_behind |= shared_memory.locks_of(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return True
        return False

    def stop(self) -> None:
        """End the launch and every node, and remove the shared memory of killed ones."""
        if self.is_up:
            self.current.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.current.process.wait(_PATIENCE)
        for launch in self.launches:
            for pid in re.findall(r"process started with pid \[(\d+)\]", launch.output):
                if _is_node(int(pid)):
                    self.kill(int(pid))
        if self.is_up:
            self.current.process.kill()
            self.current.process.wait()
        shared_memory.remove(self._left_behind)


def _is_node(pid: int) -> bool:
    """Whether a process is ours and alive, since process numbers are reused."""
    try:
        return b"ompo_ros" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
