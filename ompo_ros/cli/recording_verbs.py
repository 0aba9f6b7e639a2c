"""What `ompo recording` does."""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict

from ompo_ros.cli.exits import DONE, REFUSED, warn
from ompo_ros.policy.records import plain
from ompo_ros.recording import Recording, UnusableRecording, recording_files
from ompo_ros.recording.batches import KIND, batch_from_bytes
from ompo_ros.recording.cdr import BrokenMessage
from ompo_ros.recording.evaluations import first_and_last
from ompo_ros.recording.extract import write_joint_csv, write_npz
from ompo_ros.recording.reader import lost_batches
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import InvalidData

Recordings = list[Recording]


def run(arguments: argparse.Namespace) -> int:
    """Run a verb; a refused recording becomes a sentence and an exit code, a damaged one a warning."""
    verb = {"info": _info, "replay": _replay, "extract": _extract, "picture": _picture}[arguments.verb]
    try:
        recordings = [Recording(file) for path in arguments.paths for file in recording_files(path)]
        code = verb(arguments, recordings)
    except UnusableRecording as error:
        warn(str(error))
        return REFUSED
    for recording in recordings:
        if recording.damage:
            warn(f"{recording.path}: {recording.damage}")
    return code


def _info(_: argparse.Namespace, recordings: Recordings) -> int:
    for recording in recordings:
        topics: Counter[tuple[str, str]] = Counter()
        transitions: Counter[str] = Counter()
        numbers: dict[tuple[str, int], list[int]] = defaultdict(list)
        times = []
        for message in recording.messages():
            topics[message.topic, message.kind] += 1
            times.append(message.received)
            if message.kind == KIND:
                try:
                    batch = batch_from_bytes(message.data)
                except (BrokenMessage, InvalidData):
                    continue
                transitions[batch.transitions.origin.name.lower()] += len(batch.transitions)
                numbers[batch.collector_id, batch.session].append(batch.sequence)
        _print_summary(recording, times, transitions, lost_batches(numbers))
        for (topic, kind), count in sorted(topics.items()):
            print(plain(f"  {count:8} {topic} ({kind})"))
    return DONE


def _print_summary(recording: Recording, times: list[int], transitions: Counter[str], lost: int) -> None:
    begin, seconds = (min(times) / 1e9, (max(times) - min(times)) / 1e9) if times else (0.0, 0.0)
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(begin)) if times else "never"
    size = recording.path.stat().st_size / 1e6
    print(plain(f"{recording.path}: {size:.1f} MB, {seconds:.0f} s from {date}"))
    if recording.about:
        contract = recording.contract
        print(plain(f"  run      {recording.about.get('run_id') or '(none)'}, {contract.task} on {contract.robot}"))
    counted = ", ".join(f"{transitions[origin]} of the {origin}" for origin in ("target", "source"))
    if transitions["demonstration"]:
        counted += f", {transitions['demonstration']} of demonstrations"
    print(f"  steps    {counted}; {lost} batches lost")
    versions = sorted({int(policy["version"]) for policy in recording.policies if policy["version"].isdecimal()})
    print(f"  policies {len(versions)}" + (f", versions {versions[0]} to {versions[-1]}" if versions else ""))


def _replay(arguments: argparse.Namespace, recordings: Recordings) -> int:
    try:
        from ompo_ros.nodes.wire.replay import NotAlone, Replay
    except ImportError as error:
        raise ConnectionError(f"no ROS 2 here to play it on ({error})") from error
    replay = Replay(recordings, arguments.speed)
    try:
        print(f"{replay.play()} messages played")
    except NotAlone as error:
        warn(str(error))
        return REFUSED
    except KeyboardInterrupt:
        print("stopped")
    finally:
        replay.close()
    return DONE


def _extract(arguments: argparse.Namespace, recordings: Recordings) -> int:
    if arguments.form == "npz":
        print(f"{arguments.out}: {write_npz(recordings, arguments.out)} transitions")
    elif arguments.form == "csv":
        print(f"{arguments.out}: {write_joint_csv(recordings, arguments.out)} joint states")
    else:
        try:
            from ompo_ros.recording.lerobot import write_lerobot
        except ImportError as error:
            raise UnusableRecording(f"{error}: pip install 'ompo_ros[lerobot]'") from error
        print(f"{arguments.out}: {write_lerobot(recordings, arguments.out)} episodes")
    return DONE


def _picture(arguments: argparse.Namespace, recordings: Recordings) -> int:
    try:
        from ompo_ros.monitor.picture import NoBrowser, draw
    except ImportError as error:
        raise UnusableRecording(f"{error}: pip install 'ompo_ros[view]'") from error
    comparison = first_and_last(recordings, arguments.goals)
    contract = recordings[0].contract
    task, robot = Task(*contract.task.split("_")), load_robot(contract.robot)
    try:
        frames = draw(comparison, robot, task, arguments.out, print)
    except NoBrowser as error:
        raise UnusableRecording(str(error)) from error
    print(f"{arguments.out}: {frames} frames, {arguments.out.stat().st_size // 1024} kB")
    return DONE
