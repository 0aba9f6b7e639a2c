"""Recordings survive: cuts, kills, full disks, foreign and damaged files."""

import os
import random
import resource
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from mcap.reader import NonSeekingReader, make_reader
from mcap_ros2.decoder import DecoderFactory
from ompo_msgs.msg import TransitionBatch
from rclpy.serialization import deserialize_message, serialize_message
from recordings import CONTRACT, SECOND, add_episode, episode, record, writer_in

from ompo_ros.nodes.wire.conversions import transitions_from_msg, transitions_to_msg
from ompo_ros.recording import Recording, SizeLimits, UnusableRecording, recording_files
from ompo_ros.recording.batches import KIND, Batch, batch_from_bytes, batch_to_bytes
from ompo_ros.recording.definitions import definition
from ompo_ros.transitions import Origin

TARGET = "/ompo/target/transitions"


def genuine_messages(path: Path) -> list[tuple[str, bytes]]:
    """What the mcap package itself reads before it meets the cut."""
    found = []
    with path.open("rb") as file:
        try:
            for _, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
                found.append((channel.topic, message.data))
        except Exception:  # which one depends on where the cut is
            return found
    return found


def test_the_genuine_reader_finds_index_schemas_and_every_message(tmp_path):
    path = record(tmp_path)
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert reader.get_header().profile == "ros2"
        assert summary.statistics.message_count == 12 * 11
        assert summary.statistics.chunk_count == 12, "a chunk a second"
        decoded = [found.decoded_message for found in reader.iter_decoded_messages(topics=[TARGET])]
    assert [msg.sequence for msg in decoded] == list(range(12))
    assert decoded[3].obs == episode(seed=3).obs.reshape(-1).tolist()


def test_ros_reads_our_batches_and_we_read_those_of_ros():
    transitions = episode(Origin.SOURCE, n=7, seed=5)
    batch = Batch(1_700_000_000_123_456_789, "run-1", "/ompo/source_collector_0", 2**63, 41, transitions)
    stamp = Time(sec=1_700_000_000, nanosec=123_456_789)
    named = {"run_id": "run-1", "collector_id": "/ompo/source_collector_0", "session": 2**63, "sequence": 41}
    message = transitions_to_msg(transitions, stamp=stamp, **named)
    assert deserialize_message(batch_to_bytes(batch), TransitionBatch) == message
    assert len(batch_to_bytes(batch)) == len(serialize_message(message))  # bytes between fields are anything
    again, theirs = batch_from_bytes(serialize_message(message)), transitions_from_msg(message)
    for name in ("obs", "action", "reward", "next_obs", "terminated", "truncated", "step", "policy_version"):
        assert np.array_equal(getattr(again.transitions, name), getattr(theirs, name))
    assert (again.stamp, again.sequence, again.transitions.origin) == (batch.stamp, 41, Origin.SOURCE)


def test_a_file_cut_at_200_random_places_is_read_up_to_the_cut(tmp_path):
    whole = record(tmp_path / "whole", episodes=30)
    content, rng = whole.read_bytes(), random.Random(0)
    everything = [(m.topic, m.data) for m in Recording(whole).messages()]
    assert everything == genuine_messages(whole)
    cut = tmp_path / "cut.mcap"
    last = []
    for place in sorted(rng.randrange(len(content)) for _ in range(200)):
        cut.write_bytes(content[:place])
        recording = Recording(cut)
        found = [(m.topic, m.data) for m in recording.messages()]
        assert found == genuine_messages(cut), f"cut at {place} of {len(content)}"
        assert found == everything[: len(found)]
        assert len(found) >= len(last), "a later cut leaves no less"
        assert recording.damage
        last = found
    assert len(last) > 25 * 11


def test_damaged_bytes_end_the_reading_and_are_never_taken_for_data(tmp_path):
    whole = record(tmp_path / "whole", episodes=10)
    content, rng = whole.read_bytes(), random.Random(1)
    everything = [m.data for m in Recording(whole).messages()]
    damaged = tmp_path / "damaged.mcap"
    for _ in range(200):
        place = rng.randrange(8, len(content))
        damaged.write_bytes(content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :])
        try:
            found = [m.data for m in Recording(damaged).messages()]
        except UnusableRecording:
            continue
        assert found == everything[: len(found)], f"flipped a bit at {place}"


KILLED = """
import sys
from pathlib import Path
from recordings import add_episode, writer_in
writer = writer_in(Path(sys.argv[1]))
for number in range(100_000):
    add_episode(writer, number)
    writer.flush()
    print(number, flush=True)
"""


@pytest.mark.parametrize("flushes", [1, 7, 23])
def test_a_killed_writer_leaves_all_that_was_flushed(tmp_path, flushes):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path], stdout=subprocess.PIPE, text=True, env=environment
    )
    flushed = [int(process.stdout.readline()) for _ in range(flushes)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    (path,) = recording_files(tmp_path)
    sequences = [batch.sequence for batch in Recording(path).batches()]
    assert sequences[:flushes] == flushed
    assert sequences == list(range(len(sequences)))
    assert [data for topic, data in genuine_messages(path) if topic == TARGET][flushes - 1]


def test_large_recordings_are_split_and_the_oldest_files_go(tmp_path):
    warnings = []
    writer = writer_in(tmp_path, limits=SizeLimits(split=20_000, total=80_000, keep_free=0), warnings=warnings)
    for number in range(40):
        add_episode(writer, number)
        writer.flush()
    writer.close()
    files = recording_files(tmp_path)
    assert len(files) >= 3
    assert sum(path.stat().st_size for path in files) < 80_000
    assert "recording-0000.mcap is deleted" in warnings[0]
    sequences = [batch.sequence for path in files for batch in Recording(path).batches()]
    assert sequences == list(range(sequences[0], 40)), "no batch is lost between two files"
    for path in files:
        assert Recording(path).contract == CONTRACT


def test_a_second_start_goes_on_with_the_next_file(tmp_path):
    record(tmp_path, episodes=2)
    record(tmp_path, episodes=3)
    first, second = recording_files(tmp_path)
    assert [len(list(Recording(path).batches())) for path in (first, second)] == [2, 3]
    assert recording_files(tmp_path.parent / tmp_path.name) == [first, second]


def test_the_margin_of_the_disk_is_kept_and_said_once(tmp_path):
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    warnings = []
    writer = writer_in(tmp_path, limits=SizeLimits(keep_free=2 * free), warnings=warnings)
    for number in range(3):
        add_episode(writer, number)
        writer.flush()
    assert (writer.written, writer.dropped, writer.path) == (0, 33, None)
    assert list(tmp_path.iterdir()) == []
    (warning,) = warnings
    assert "nothing is recorded" in warning
    assert "lower keep_free" in warning


def test_a_disk_that_is_suddenly_full_leaves_a_readable_file_and_recording_goes_on_later(tmp_path):
    warnings = []
    writer = writer_in(tmp_path, warnings=warnings)
    add_episode(writer, 0)
    writer.flush()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writes fail as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (writer.path.stat().st_size + 2_000, hard))
    try:
        for number in range(1, 4):
            add_episode(writer, number)
            writer.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert any("cannot be written" in warning for warning in warnings)
    writer.flush()
    add_episode(writer, 4)
    writer.close()
    sequences = [batch.sequence for path in recording_files(tmp_path) for batch in Recording(path).batches()]
    assert sequences[0] == 0
    assert sequences[-1] == 4
    first = Recording(recording_files(tmp_path)[0])
    assert [batch.sequence for batch in first.batches()] == [0]


def test_what_is_no_recording_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(UnusableRecording, match="there is no"):
        recording_files(tmp_path / "nothing")
    with pytest.raises(UnusableRecording, match="holds no recording"):
        recording_files(tmp_path)
    text = tmp_path / "text.mcap"
    text.write_text("some notes, longer than eight bytes")
    with pytest.raises(UnusableRecording, match="is no MCAP file"):
        list(Recording(text).messages())
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(record(tmp_path / "whole").read_bytes()[:40])
    assert list(Recording(cut).messages()) == []
    with pytest.raises(UnusableRecording, match="cut at its beginning"):
        _ = Recording(cut).contract


def test_batches_of_another_run_or_with_broken_values_are_left_out(tmp_path):
    writer = writer_in(tmp_path)
    add_episode(writer, 0)
    add_episode(writer, 1, run_id="run-b")
    batch = batch_to_bytes(Batch(0, "run-a", "c", 7, 2, episode(seed=2)))
    for broken in (batch[:100], batch[:4], b"", b"\0\0" + batch[2:], batch[:-4]):
        writer.write(TARGET, KIND, broken, SECOND, SECOND)
    nan = bytearray(batch)
    place = nan.index(episode(seed=2).obs.tobytes()[:64])
    nan[place : place + 4] = struct.pack("<f", float("nan"))
    writer.write(TARGET, KIND, bytes(nan), SECOND, SECOND)
    writer.close()
    recording = Recording(recording_files(tmp_path)[0])
    assert [batch.sequence for batch in recording.batches()] == [0]
    assert recording.refused == 7


def test_definitions_hold_every_type_they_are_made_of():
    text = definition("trajectory_msgs/msg/JointTrajectory")
    for name in ("std_msgs/Header", "builtin_interfaces/Time", "builtin_interfaces/Duration"):
        assert f"MSG: {name}\n" in text
    with pytest.raises(FileNotFoundError, match="Install no_msgs"):
        definition("no_msgs/msg/Nothing")
