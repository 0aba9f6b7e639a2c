"""What recording costs a default adaptation run, and what kills of the recorder lose.

Usage: tools/with_ros python benchmarks/recording.py [--steps 500] [--kills 0] [--seed 0]
Launches a run as a user does and reads the recorder's processor time from /proc. Lost are transitions that the learner
took in and the recording does not have. With kills, recorders hear an episode every 20 ms and are killed (SIGKILL) at
random moments: how old was the oldest episode that a file does not have, and does the genuine reader find the same?
`--steps 0` leaves out the run.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from mcap.reader import NonSeekingReader
from ompo_msgs.msg import LearnerStatus, TransitionBatch
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_to_msg
from ompo_ros.recording import Recording, recording_files
from ompo_ros.recording.batches import KIND
from ompo_ros.recording.reader import lost_batches
from ompo_ros.transitions import Origin, Transitions

TICK = os.sysconf("SC_CLK_TCK")
STATUS = "ompo_msgs/msg/LearnerStatus"
TOLD = ("mb_per_s", "cpu_share", "lost", "kills", "worst_loss_s", "unreadable")
LONGEST_RUN = 3600.0  # s
PATIENCE = 120.0  # s for a recorder to come up on a busy machine
AT_ONCE = 4  # recorders that are fed at a time


def main() -> None:
    """Measure, print the table, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500, help="on the target")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_run(Path(folder), arguments.steps, arguments.seed) if arguments.steps else {}
        if arguments.kills:
            figures |= measure_kills(Path(folder) / "kills", arguments.kills, arguments.seed)
    for name, value in figures.items():
        print(f"{name:28} {value:12.4g}")
    print(json.dumps({name: figures[name] for name in TOLD if name in figures}))


def measure_run(folder: Path, steps: int, seed: int) -> dict[str, float]:
    """One launch from start to report."""
    run_dir, log = folder / "run", folder / "log.txt"
    arguments = {"run_dir": run_dir, "target_steps": steps, "seed": seed}
    command = [
        "ros2",
        "launch",
        "ompo_ros",
        "adapt.launch.py",
        *(f"{name}:={value}" for name, value in arguments.items()),
    ]
    with log.open("wb") as output:
        launch = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        share = recorder_share(launch, log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(launch.pid, signal.SIGKILL)  # nobody is left of a run that has ended
    if launch.returncode:
        sys.exit(f"the run failed:\n{log.read_text(errors='replace')[-3000:]}")
    return read_run(run_dir) | {"cpu_share": share}


def recorder_share(launch: subprocess.Popen[bytes], log: Path) -> float:
    """Share of a core that the recorder takes until the run ends; its start is not the run's cost."""
    deadline = time.monotonic() + LONGEST_RUN
    pid, first, last = 0, (0.0, 0.0), (0.0, 0.0)
    while launch.poll() is None:
        if time.monotonic() > deadline:
            sys.exit(f"the run did not end within {LONGEST_RUN:g} s:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.2)
        text = log.read_text(errors="replace")
        found = re.findall(r"\[recorder-\d+\]: process started with pid \[(\d+)\]", text)
        if not found:
            continue
        used = processor_time(int(found[-1]))
        if used and int(found[-1]) != pid and "recording to" in text:
            pid, first = int(found[-1]), (time.monotonic(), used)
        last = (time.monotonic(), used) if used and pid else last
    return (last[1] - first[1]) / (last[0] - first[0])


def processor_time(pid: int) -> float:
    """Seconds of a process so far; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def read_run(run_dir: Path) -> dict[str, float]:
    """What is in the recording, beside what the learner says it took in."""
    files, recorded, messages = recording_files(run_dir), Counter[Origin](), 0
    times: list[int] = []
    numbers: dict[tuple[str, int], list[int]] = {}
    status: Any = None
    for file in files:
        recording = Recording(file)
        for message in recording.messages():
            messages += 1
            times.append(message.received)
            status = deserialize_message(message.data, LearnerStatus) if message.kind == STATUS else status
        for batch in recording.batches():
            recorded[batch.transitions.origin] += len(batch.transitions)
            numbers.setdefault((batch.collector_id, batch.session), []).append(batch.sequence)
    seconds, size = (max(times) - min(times)) / 1e9, sum(file.stat().st_size for file in files)
    taken = status.source_steps + status.target_steps
    return {
        "seconds": seconds,
        "messages_per_s": messages / seconds,
        "mb_per_s": size / 1e6 / seconds,
        "mb_per_hour": size / 1e6 / seconds * 3600,
        "transitions": sum(recorded.values()),
        "lost": max(0, taken - sum(recorded.values())),
        "gaps": lost_batches(numbers),
    }


def measure_kills(folder: Path, kills: int, seed: int) -> dict[str, float]:
    """Kill recorders, each in a namespace of its own, so that none waits for the name of the one before."""
    multiprocessing.set_start_method("forkserver")  # they import everything once: a start takes moments
    multiprocessing.set_forkserver_preload(["ompo_ros.nodes.recorder"])
    os.environ["FASTDDS_BUILTIN_TRANSPORTS"] = "UDPv4"  # killed processes leave their shared memory behind
    rclpy.init()
    node, rng, numbers = rclpy.create_node("sender"), random.Random(seed), iter(range(kills))
    fed: list[Victim] = []
    losses: list[float] = []
    unreadable = 0
    while len(losses) < kills:
        fed += [Victim(node, folder, n, rng.uniform(0.0, 3.0)) for n in itertools.islice(numbers, AT_ONCE - len(fed))]
        for victim in [victim for victim in fed if victim.feed()]:
            fed.remove(victim)
            loss, sound = victim.verdict()
            losses.append(loss)
            unreadable += not sound
            shutil.rmtree(victim.folder)
        time.sleep(0.02)
    node.destroy_node()
    rclpy.try_shutdown()
    return {"kills": kills, "worst_loss_s": max(losses), "unreadable": unreadable}


class Victim:
    """A recorder that hears episodes until it is killed."""

    def __init__(self, node: Node, folder: Path, number: int, seconds: float) -> None:
        self.folder, self._node, self._seconds = folder / str(number), node, seconds
        self._publisher = node.create_publisher(TransitionBatch, f"/kill_{number}/target/transitions", qos.TRANSITIONS)
        words = ["--ros-args", "-r", f"__ns:=/kill_{number}", "-p", f"run_dir:={self.folder}"]
        self._process = multiprocessing.get_context().Process(target=record, args=(words,))
        self._process.start()
        self._sent: list[float] = []
        self._gives_up = time.monotonic() + PATIENCE
        self._dies = math.inf
        self._killed = 0.0

    def feed(self) -> bool:
        """Send an episode, or kill the recorder when its time has come; whether that is done."""
        now = time.monotonic()
        if now >= self._dies:
            self._process.kill()
            self._killed = time.monotonic()
            self._process.join()
            self._node.destroy_publisher(self._publisher)
            return True
        if math.isinf(self._dies) and now > self._gives_up:
            raise TimeoutError(f"no recorder hears {self._publisher.topic_name}")
        if self._publisher.get_subscription_count():
            number, stamp = len(self._sent), self._node.get_clock().now().to_msg()
            message = transitions_to_msg(small_batch(), collector_id="sender", session=1, sequence=number, stamp=stamp)
            self._sent.append(time.monotonic())
            self._publisher.publish(message)
            if math.isinf(self._dies) and number % 10 == 0 and self._kept():
                self._dies = now + self._seconds  # discovery is over: from now on everything counts
        return False

    def _kept(self) -> set[int]:
        (file,) = recording_files(self.folder)
        return {batch.sequence for batch in Recording(file).batches()}

    def verdict(self) -> tuple[float, bool]:
        """Age at the kill of the oldest episode that is not in the file, and whether both readers agree."""
        kept = self._kept()
        missing = [
            self._killed - self._sent[number] for number in range(min(kept), len(self._sent)) if number not in kept
        ]
        return max(missing, default=0.0), genuine_count(recording_files(self.folder)[0]) == len(kept)


def record(words: list[str]) -> None:
    """The recorder's process, as its executable starts it."""
    sys.argv = ["recorder", *words, "--log-level", "error"]
    from ompo_ros.nodes import recorder

    recorder.main()


def genuine_count(file: Path) -> int:
    """Batches that the mcap package itself reads before it meets the cut."""
    count = 0
    with file.open("rb") as stream:
        messages = NonSeekingReader(stream).iter_messages(log_time_order=False)
        while True:
            try:
                schema, _, _ = next(messages)
            except Exception:  # the end, or whatever it makes of a cut
                return count
            count += schema is not None and schema.name == KIND


def small_batch() -> Transitions:
    """An episode's worth of zeros."""
    n = 50
    rows, whole, flags = np.zeros((n, 20), np.float32), np.zeros(n, np.uint32), np.zeros(n, np.bool_)
    actions, rewards = np.zeros((n, 7), np.float32), np.zeros(n, np.float32)
    return Transitions(Origin.TARGET, rows, actions, rewards, rows, flags, flags, whole, whole, whole)


if __name__ == "__main__":
    main()
