"""Plays the faults of one run until its report, and collects the evidence for the verdicts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ompo_ros.experiments.campaign import sandbox, shared_memory
from ompo_ros.experiments.campaign.evidence import Standing, safe_steps, standing_policies
from ompo_ros.experiments.campaign.fake_clock import FakeClock
from ompo_ros.experiments.campaign.faults import READERS, Block, Fault
from ompo_ros.experiments.campaign.inject import Injection, inject
from ompo_ros.experiments.campaign.launch import Run
from ompo_ros.experiments.campaign.recorded import newest_recording, seconds_missing
from ompo_ros.experiments.campaign.recording import moves_since

COMES_UP = 300.0  # s for a run's first policy; on loaded cores its nodes alone take minutes
REPORTS = 400.0  # s from the last fault to the report
_UNANSWERED = 3  # exit code of `ompo policy` where it found no server in its ten seconds
_FRUITLESS = 2  # launches in a row that end by themselves, without a fault, before the run is given up
Say = Callable[[str], None]


@dataclass(frozen=True)
class PlayedFault:
    """A fault, its time, and the policies in use just before it."""

    fault: Fault
    injection: Injection
    safe_steps: int  # target transitions on the disk after the fault's damage
    standing: list[Standing]
    recording_gap: float = 0.0  # s before its end that a killed recorder's file lacks

    def __str__(self) -> str:
        nothing = self.fault.kind == "files" and self.injection.damaged is None
        return (
            f"{READERS[self.fault.victim]} killed, there is no {self.fault.victim} yet" if nothing else str(self.fault)
        )


@dataclass
class PlayedRun:
    """A run that is over."""

    run: Run
    driver: str
    recording: Path
    clock_offsets: list[float]
    played: list[PlayedFault] = field(default_factory=list)
    skipped: list[Fault] = field(default_factory=list)
    left: list[Fault] = field(default_factory=list)
    has_report: bool = False


class Conductor:
    """Plays a block of faults on one run."""

    def __init__(self, folder: Path, run_dir: Path, block: Block, seed: int, say: Say) -> None:
        self._say = say
        self._block = block
        self._damaged: set[Path] = set()
        self._clock = FakeClock(folder) if block.uses("clock") else None
        graph = sandbox.BY_UDP if block.uses("network") else sandbox.LOCAL
        self._environment = {**os.environ, **graph, "ROS_LOG_DIR": str(folder / "ros"), "TMPDIR": str(folder)}
        clock_environment = self._clock.environment if self._clock else {}
        steps = min(300, 100 + 20 * len(block.faults))  # a run that takes about as long as its faults
        self._run = Run(folder, run_dir, block.driver, steps, seed, {**self._environment, **clock_environment})
        recording = folder / "recording.jsonl"
        offsets = self._clock.offsets if self._clock else []
        self._result = PlayedRun(self._run, block.driver, recording, offsets)

    def play(self) -> PlayedRun:
        """Start, play all faults, wait for the report; nothing keeps running afterwards."""
        with self._observed():
            try:
                self._run.start()
                self._hold_a_policy()
                self._play_faults()
                self._wait(REPORTS, until=lambda: False)
                self._result.has_report = self._run.has_report
            finally:
                self._run.stop()
        return self._result

    @contextmanager
    def _observed(self) -> Iterator[None]:
        """Start the observer before the launch and keep it until everything has ended."""
        recording = self._result.recording
        log = recording.with_name("observer.log")
        module = "ompo_ros.experiments.campaign.observer"
        command = [sys.executable, "-m", module, str(recording), "--driver", self._block.driver]
        with log.open("wb") as output:
            observer = subprocess.Popen(
                command, stdout=output, stderr=output, env=self._environment, start_new_session=True
            )
        try:
            deadline = time.monotonic() + COMES_UP
            while not recording.exists():
                if observer.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the observer does not start:\n{log.read_text()}")
                time.sleep(0.1)
            yield
        finally:
            shared_memory_locks = shared_memory.locks_of(observer.pid)
            observer.kill()  # it writes whole lines, and has nothing to save
            observer.wait()
            shared_memory.remove(shared_memory_locks)

    def _play_faults(self) -> None:
        waiting = list(self._block.faults)
        while waiting and self._wait_for(waiting[0]):
            fault = waiting.pop(0)
            standing, before = standing_policies(self._run.run_dir), self._safe_steps()
            recording = newest_recording(self._run.run_dir)
            injection = inject(fault, self._run, self._clock)
            if injection is None:
                self._result.skipped.append(fault)
                self._say(f"not played, there is nothing to play it on: {fault}")
                continue
            self._damaged |= {injection.damaged} if injection.damaged else set()
            safe = min(before, self._safe_steps())
            gap = self._recording_gap(fault, injection, recording)
            self._result.played.append(PlayedFault(fault, injection, safe, standing, gap))
            self._say(str(self._result.played[-1]))
        self._result.left = waiting

    def _recording_gap(self, fault: Fault, injection: Injection, recording: Path | None) -> float:
        """What a killed recorder lost; not known where its clock is not ours."""
        if (fault.kind, fault.victim) != ("kill", "recorder") or recording is None or self._clock is not None:
            return 0.0
        return seconds_missing(recording, injection.begin)

    def _safe_steps(self) -> int:
        return safe_steps(self._run.run_dir, self._damaged)

    def _wait_for(self, fault: Fault) -> bool:
        """Wait until a fault is due; False when the run was over before."""
        if not self._wait(0.0 if fault.early else COMES_UP, until=self._moves):
            return False
        return self._wait(fault.pause, until=lambda: False)

    def _moves(self) -> bool:
        return self._run.is_up and moves_since(self._result.recording, self._run.current.begin)

    def _hold_a_policy(self) -> None:
        """Pin a first policy on `stable`, as a user does: no fault may remove it."""
        self._wait(COMES_UP, until=lambda: re.search(r"policy/latest: \d+", self._run.current.output) is not None)
        for policy in standing_policies(self._run.run_dir):
            done = self._pin(policy.version)
            if done.returncode:
                self._say(f"no policy is held: {done.stderr.strip()}")

    def _pin(self, version: int) -> subprocess.CompletedProcess[str]:
        """Ask as long as the launch is alive: on loaded cores a shell may not find the server in time."""
        command = ["ompo", "policy", "activate", str(version), "--pin", "--reason", "held by the campaign"]
        deadline = time.monotonic() + COMES_UP
        while True:
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=self._environment)
            if done.returncode != _UNANSWERED or not self._run.is_up or time.monotonic() > deadline:
                return done

    def _wait(self, seconds: float, until: Callable[[], bool]) -> bool:
        """Wait, and restart ended launches; False once the run has its report or is given up."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not until():
            if not self._run.is_up and (self._run.has_report or not self._restart()):
                return False
            time.sleep(0.1)
        return True

    def _restart(self) -> bool:
        """Launch again with resume; False after too many launches that ended by themselves."""
        faults = [played.injection.begin for played in self._result.played]
        last = max(faults, default=0.0)
        fruitless = [launch for launch in self._run.launches if launch.begin > last]
        if len(fruitless) >= _FRUITLESS or (not faults and self._run.launches):
            self._say(f"given up: {self._run.current.log} says why")
            return False
        self._run.start()
        self._say(f"the launch ended ({_reason(self._run.launches[-2].output)}): resumed")
        return True


def _reason(output: str) -> str:
    found = re.findall(r"(?:ending|exception in launch .*?): (.*)", output)
    return found[-1] if found else "it does not say why"
