"""Plays one fault on a run and undoes it if possible, also when interrupted."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ompo_ros.experiments.campaign.damage import damage
from ompo_ros.experiments.campaign.fake_clock import FakeClock
from ompo_ros.experiments.campaign.faults import READERS, Fault
from ompo_ros.experiments.campaign.launch import Run
from ompo_ros.experiments.campaign.sandbox import set_loopback

_PATIENCE = 60.0  # s to wait for a node that is just being replaced


@dataclass(frozen=True)
class Injection:
    """A fault that was played: from when to when (s, monotonic; no end: for good), and the file it damaged."""

    begin: float
    end: float = math.inf
    damaged: Path | None = None


def inject(fault: Fault, run: Run, clock: FakeClock | None) -> Injection | None:
    """Play a fault; None if its victim does not exist."""
    if fault.kind == "kill":
        return _kill(run, fault.victim)
    if fault.kind == "stop":
        return _stop(run, fault.victim, fault.duration)
    if fault.kind == "files":
        return _damage(run, fault)
    if fault.kind == "disk":
        return _fill_disk(run.run_dir, fault.duration)
    if fault.kind == "network":
        return _during(fault.duration, lambda: set_loopback("down"), lambda: set_loopback("up"))
    if clock is None:
        return None
    clock.set_to(fault.amount)
    return Injection(time.monotonic())


def _kill(run: Run, node: str) -> Injection | None:
    pid = _found(run, node)
    begin = time.monotonic()
    if pid is None or not run.kill(pid):
        return None
    return Injection(begin)


def _stop(run: Run, node: str, duration: float) -> Injection | None:
    pid = _found(run, node)
    if pid is None:
        return None
    return _during(duration, lambda: _signal(pid, signal.SIGSTOP), lambda: _signal(pid, signal.SIGCONT))


def _damage(run: Run, fault: Fault) -> Injection | None:
    path = damage(run.run_dir, fault)
    begin = time.monotonic()
    killed = _kill(run, READERS[fault.victim]) if fault.then_kill else None
    if path is None and killed is None:
        return None
    return Injection(begin, damaged=path)


def _fill_disk(run_dir: Path, duration: float) -> Injection | None:
    filler = run_dir.parent / "filler"
    return _during(duration, lambda: _fill(filler), lambda: filler.unlink(missing_ok=True))


def _fill(filler: Path) -> None:
    """Write until the disk is full."""
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


def _during(duration: float, begin: Callable[[], object], end: Callable[[], object]) -> Injection:
    try:
        begin()
        began = time.monotonic()
        time.sleep(duration)
    finally:
        ended = time.monotonic()
        end()
    return Injection(began, ended)


def _found(run: Run, node: str) -> int | None:
    deadline = time.monotonic() + _PATIENCE
    while (pid := run.pid_of(node)) is None and time.monotonic() < deadline and run.is_up:
        time.sleep(0.1)
    return pid


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
