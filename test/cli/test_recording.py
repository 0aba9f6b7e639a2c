"""`ompo recording` as a shell runs it: what it prints, how it exits, and what it plays to whom."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shell
from ompo_msgs.msg import EpisodeSummary, LearnerStatus, TransitionBatch
from PIL import Image
from probe import Probe
from rclpy.serialization import serialize_message
from recordings import add_episode, evaluated_run, record, writer_in
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.transitions import Origin

COMMAND_TOPIC = "/ompo/forward_position_controller/commands"


def ompo(*arguments: object) -> subprocess.CompletedProcess[str]:
    return shell.ompo("recording", *arguments)


@pytest.fixture
def run_dir(tmp_path):
    """A run's folder with a recording of four seconds."""
    writer = writer_in(tmp_path / "run" / "recordings", commands=COMMAND_TOPIC)
    command = serialize_message(Float64MultiArray(data=[0.1] * 7))
    for number in range(4):
        add_episode(writer, number)
        status = serialize_message(LearnerStatus(run_id="run-a", target_steps=50 * (number + 1)))
        writer.write("/ompo/status", "ompo_msgs/msg/LearnerStatus", status, number * 10**9, 0)
        summary = serialize_message(EpisodeSummary(run_id="run-a", episode=number))
        writer.write("/ompo/target/episodes", "ompo_msgs/msg/EpisodeSummary", summary, number * 10**9, 0)
        writer.write(COMMAND_TOPIC, "std_msgs/msg/Float64MultiArray", command, number * 10**9, 0)
    writer.close()
    return tmp_path / "run"


def test_info_says_what_is_in_a_recording_and_how_far_it_can_be_read(run_dir):
    result = ompo("info", run_dir)
    assert (result.returncode, result.stderr) == (0, "")
    assert "run-a, reach_dense on panda" in result.stdout
    assert "200 of the target, 0 of the source; 0 batches lost" in result.stdout
    assert "      40 /ompo/joint_states (sensor_msgs/msg/JointState)" in result.stdout
    cut = run_dir / "cut.mcap"
    cut.write_bytes((run_dir / "recordings/recording-0000.mcap").read_bytes()[:-3000])
    result = ompo("info", cut)
    assert result.returncode == 0
    assert "readable up to byte" in result.stderr


def test_info_names_demonstrations_where_there_are_some(tmp_path):
    writer = writer_in(tmp_path)
    add_episode(writer, 0, origin=Origin.DEMONSTRATION)
    writer.close()
    assert "0 of the target, 0 of the source, 50 of demonstrations; 0 batches lost" in ompo("info", tmp_path).stdout


def test_extract_writes_what_was_asked_for_and_refuses_what_is_no_recording(run_dir, tmp_path):
    result = ompo("extract", "npz", tmp_path / "out.npz", run_dir)
    assert (result.returncode, result.stdout) == (0, f"{tmp_path / 'out.npz'}: 200 transitions\n"), result.stderr
    with np.load(tmp_path / "out.npz", allow_pickle=False) as found:
        assert found["obs"].shape == (200, 20)
    (tmp_path / "notes.mcap").write_text("not a recording at all")
    result = ompo("extract", "csv", tmp_path / "out.csv", tmp_path / "notes.mcap")
    assert result.returncode == 1
    assert "is no MCAP file" in result.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.xdist_group("browser")
def test_a_run_becomes_a_moving_picture(tmp_path):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("no browser is installed: apt-get install chromium")
    goals = np.array([[0.5, 0.1, 0.2]])
    folder = evaluated_run(tmp_path / "run", {1: goals, 9: goals}, explored=1, steps=6)
    result = ompo("picture", tmp_path / "adapt.gif", folder)
    assert result.returncode == 0, result.stderr
    assert "3 frames" in result.stdout
    with Image.open(tmp_path / "adapt.gif") as picture:
        assert picture.n_frames == 3
        pixels = []
        for number in (0, 2):
            picture.seek(number)
            pixels.append(np.asarray(picture.convert("RGB"), np.int16)[60:])
    assert pixels[0].std() > 10, "something is drawn"
    assert (np.abs(pixels[0] - pixels[1]) > 30).any(axis=2).mean() > 0.01, "and the arm has moved"


def test_a_replay_looks_like_the_run_and_stops_where_an_arm_could_hear_it(run_dir, ros_domain):
    probe = Probe()
    try:
        batches = probe.listen(TransitionBatch, "/ompo/target/transitions", qos.TRANSITIONS)
        status = probe.listen(LearnerStatus, "/ompo/status", qos.LATCHED)
        states = probe.listen(JointState, "/ompo/joint_states", STATES)
        command = Path(sys.executable).with_name("ompo")
        arguments = [command, "recording", "replay", "--speed", "1", run_dir]
        played = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        probe.spin_until(lambda: len(batches) == 4 and status and status[-1].target_steps == 200 and states)
        probe.spin_until(lambda: played.poll() is not None)
        assert (played.returncode, played.stdout.read()) == (0, "56 messages played\n")

        heard = probe.listen(Float64MultiArray, COMMAND_TOPIC, COMMANDS)
        refused = ompo("replay", run_dir)
        assert refused.returncode == 1
        assert f"probe hears commands on {COMMAND_TOPIC} and may move an arm" in refused.stderr
        assert heard == []
    finally:
        probe.close()


@pytest.mark.parametrize("known", ["/target_joint", None], ids=["known", "older file"])
def test_a_driver_that_takes_joint_states_keeps_a_replay_from_playing_too(tmp_path, ros_domain, known):
    writer = writer_in(tmp_path, commands=known)
    add_episode(writer, 0)
    command = serialize_message(JointState(position=[0.1] * 7))
    writer.write("/target_joint", "sensor_msgs/msg/JointState", command, 0, 0)
    writer.close()
    probe = Probe()
    try:
        heard = probe.listen(JointState, "/target_joint", COMMANDS)
        refused = ompo("replay", tmp_path)
        assert refused.returncode == 1
        assert "probe hears commands on /target_joint and may move an arm" in refused.stderr
        assert heard == []
    finally:
        probe.close()


def test_nothing_is_played_beside_a_live_robot(tmp_path, ros_domain):
    run_dir = record(tmp_path, episodes=1).parent
    probe = Probe()
    try:
        probe.node.create_publisher(JointState, "/ompo/joint_states", STATES)
        refused = ompo("replay", run_dir)
        assert refused.returncode == 1
        assert "probe publishes /ompo/joint_states: a robot or a run is here" in refused.stderr
    finally:
        probe.close()
