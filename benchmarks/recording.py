"""What recording costs a default adaptation run, and what kills of the recorder lose.

Usage: tools/with_ros python benchmarks/recording.py [--steps 500] [--kills 0] [--seed 0]
Launches a run as a user does and reads the recorder's processor time from /proc. Lost are transitions that the learner
took in and the recording does not have. With kills, a recorder alone hears a batch every 20 ms and is killed at random
moments: how old was the newest batch that its file does not have?
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
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
from rclpy.serialization import deserialize_message

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import transitions_to_msg
from ompo_ros.recording import Recording, recording_files
from ompo_ros.recording.batches import KIND
from ompo_ros.recording.reader import lost_batches
from ompo_ros.transitions import Origin, Transitions

TICK = os.sysconf("SC_CLK_TCK")
STATUS = "ompo_msgs/msg/LearnerStatus"


def main() -> None:
    """Measure, print the table, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500, help="on the target")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_run(Path(folder), arguments.steps, arguments.seed)
        if arguments.kills:
            figures |= measure_kills(Path(folder) / "kills", arguments.kills, arguments.seed)
    for name, value in figures.items():
        print(f"{name:28} {value:12.4g}")
    print(json.dumps({name: figures[name] for name in ("mb_per_s", "cpu_share", "lost")}))


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
    pid, first, last = 0, (0.0, 0.0), (0.0, 0.0)
    while launch.poll() is None:
        time.sleep(0.2)
        found = re.findall(r"\[recorder-\d+\]: process started with pid \[(\d+)\]", log.read_text(errors="replace"))
        if not found:
            continue
        used = processor_time(int(found[-1]))
        if used and int(found[-1]) != pid and "recording to" in log.read_text(errors="replace"):
            pid, first = int(found[-1]), (time.monotonic(), used)  # its start is not the run's cost
        last = (time.monotonic(), used) if used and pid else last
    if launch.returncode:
        sys.exit(f"the run failed:\n{log.read_text(errors='replace')[-3000:]}")
    return read_run(run_dir) | {"cpu_share": (last[1] - first[1]) / (last[0] - first[0])}


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
    rclpy.init()
    rng, worst, unreadable = random.Random(seed), 0.0, 0
    for number in range(kills):
        loss, sound = kill_one(folder / str(number), f"/kill_{number}", rng.uniform(0.5, 3.0))
        worst, unreadable = max(worst, loss), unreadable + (not sound)
    rclpy.try_shutdown()
    return {"kills": kills, "worst_loss_s": worst, "unreadable": unreadable}


def kill_one(folder: Path, namespace: str, seconds: float) -> tuple[float, bool]:
    """Age at the kill of the oldest batch that is not in the file, and whether the genuine reader agrees with ours."""
    node = rclpy.create_node("sender", namespace=namespace)
    publisher = node.create_publisher(TransitionBatch, "target/transitions", qos.TRANSITIONS)
    words = ["--ros-args", "-r", f"__ns:={namespace}", "-p", f"run_dir:={folder}"]
    recorder = subprocess.Popen([sys.executable, "-m", "ompo_ros.nodes.recorder", *words], stderr=subprocess.DEVNULL)
    while not publisher.get_subscription_count():
        time.sleep(0.02)
    sent: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        stamp = node.get_clock().now().to_msg()
        publisher.publish(
            transitions_to_msg(small_batch(), collector_id="sender", session=1, sequence=len(sent), stamp=stamp)
        )
        sent.append(time.monotonic())
        time.sleep(0.02)
    recorder.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    recorder.wait()
    node.destroy_node()
    (file,) = recording_files(folder)
    kept = {batch.sequence for batch in Recording(file).batches()}
    missing = [killed - when for number, when in enumerate(sent) if number not in kept]
    return max(missing, default=0.0), genuine_count(file) == len(kept)


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
