"""Writes to a registry until it is killed, over and over; forked, not started, so that a kill costs milliseconds."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from example_policies import make

from ompo_ros.policy import registry as registry_module
from ompo_ros.policy import registry_state
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST, STABLE

POLICIES = [make(version) for version in range(1, 40)]


def fork(write) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            write()
        finally:
            os._exit(0)
    return pid


def require_whole(folder: Path, acknowledged: int) -> Registry:
    """The registry opens, nothing is damaged, and nothing that was acknowledged is lost."""
    registry = Registry(folder, keep=4)
    assert not registry.warnings, registry.warnings
    for channel in (LATEST, STABLE):
        version = registry.active(channel)
        assert not version or registry.load(version).version == version
    assert registry.active(LATEST) >= acknowledged, (registry.active(LATEST), acknowledged)
    files = {path.name for path in (folder / "policies").iterdir()}
    assert files == {entry.file_name for entry in registry.entries}
    return registry


def write_from(folder: Path, acknowledge: int) -> None:
    registry = Registry(folder, keep=4)
    done = registry.active(LATEST)
    for policy in POLICIES[done:]:
        registry.add(policy, "new", channel=LATEST)
        if policy.version % 3 == 0:
            registry.move(STABLE, policy.version, "good")
        os.write(acknowledge, bytes([policy.version]))


def kill_at_random_moments(folder: Path, kills: int, seed: int) -> None:
    """SIGKILL from outside, at moments the writer knows nothing of; a full registry is begun anew."""
    rng = random.Random(seed)
    runs, last = 0, 0
    for _ in range(kills):
        target = folder / str(runs)
        read, write = os.pipe()
        pid = fork(lambda target=target, write=write: write_from(target, write))
        os.close(write)
        time.sleep(rng.uniform(0.0, 0.12))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(read, "rb") as told:
            last = max([last, *told.read()])
        registry = require_whole(target, last)
        reached = registry.active(LATEST)
        registry.close()
        if reached >= len(POLICIES) - 5:
            runs, last = runs + 1, 0
    print(f"{kills} kills, {runs} registries filled")  # noqa: T201


def kill_at_every_line(folder: Path) -> None:
    """SIGKILL from inside, before each line of the registry's code that one addition and one move execute."""
    registry = Registry(folder / "before", keep=2)
    for policy in POLICIES[:3]:
        registry.add(policy, "new", channel=LATEST)
    registry.move(STABLE, 3, "good")
    registry.close()
    for line in range(1, 2000):  # many more than there are
        target = folder / str(line)
        shutil.copytree(folder / "before", target)
        pid = fork(lambda target=target, line=line: write_until(target, line))
        _, status = os.waitpid(pid, 0)
        require_whole(target, 3).close()
        if not os.WIFSIGNALED(status):
            print(f"killed before each of {line - 1} lines")  # noqa: T201
            return
    raise RuntimeError("the writer never came to its end")


def write_until(folder: Path, line: int) -> None:
    left = line

    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename not in (registry_module.__file__, registry_state.__file__):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    registry = Registry(folder, keep=2)
    registry.add(POLICIES[3], "new", channel=LATEST)
    registry.move(STABLE, 4, "better")


if __name__ == "__main__":
    mode, place = sys.argv[1], Path(sys.argv[2])
    if mode == "random":
        kill_at_random_moments(place, kills=60, seed=0)
    else:
        kill_at_every_line(place)
