"""The recorder on a real graph: what is said is in the file, whatever happens to the recorder."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from example_policies import make
from mcap.reader import NonSeekingReader, make_reader
from ompo_msgs.msg import EpisodeSummary, LearnerStatus, PolicyArtifact, RunEnded, TransitionBatch
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message
from recordings import CONTRACT, episode
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from waiting import wait_until

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg, transitions_to_msg
from ompo_ros.nodes.wire.robot_topics import COMMANDS, STATES
from ompo_ros.recording import Recording, UnusableRecording, recording_files
from ompo_ros.resources import resource_path

TARGET = "/ompo/target/transitions"
COMMAND_TOPIC = "/ompo/forward_position_controller/commands"


class Run:
    """The nodes of a run as a recorder hears them, and the recorder."""

    def __init__(self, probe, folder) -> None:
        self.probe, self.folder, self.log = probe, folder, folder / "log.txt"
        self.processes: list[subprocess.Popen] = []
        self.sequence = 0
        publisher = probe.node.create_publisher
        self.batches = publisher(TransitionBatch, TARGET, qos.TRANSITIONS)
        self.episodes = publisher(EpisodeSummary, "/ompo/target/episodes", qos.EPISODES)
        self.status = publisher(LearnerStatus, "/ompo/status", qos.LATCHED)
        self.policies = publisher(PolicyArtifact, "/ompo/policy/latest", qos.LATCHED)
        self.ended = publisher(RunEnded, "/ompo/run/ended", qos.LATCHED)
        self.states = publisher(JointState, "/ompo/joint_states", STATES)
        self.commands = publisher(Float64MultiArray, COMMAND_TOPIC, COMMANDS)

    def start(self, **parameters):
        """Start a recorder and wait until it hears everything."""
        given = {"run_dir": self.folder, "run_id": "run-a", **parameters}
        words = [word for name, value in given.items() for word in ("-p", f"{name}:={value}")]
        profile = {"FASTRTPS_DEFAULT_PROFILES_FILE": str(resource_path("config/fastdds.xml"))}
        command = ["env", *(f"{name}={value}" for name, value in profile.items())]
        command += [sys.executable, "-m", "ompo_ros.nodes.recorder", "--ros-args", "-r", "__ns:=/ompo", *words]
        with self.log.open("ab") as log:
            self.processes.append(subprocess.Popen(command, stderr=log))
        topics = (self.batches, self.episodes, self.states, self.commands, self.ended)
        self.probe.spin_until(lambda: all(topic.get_subscription_count() for topic in topics))
        return self.processes[-1]

    def send_batch(self) -> None:
        message = transitions_to_msg(
            episode(seed=self.sequence),
            run_id="run-a",
            collector_id="/ompo/target_collector",
            session=1,
            sequence=self.sequence,
            stamp=self.probe.node.get_clock().now().to_msg(),
        )
        self.batches.publish(message)
        self.sequence += 1

    def recorded(self, topic: str) -> list[bytes]:
        """What is on the disk by now."""
        try:
            files = recording_files(self.folder)
        except UnusableRecording:
            return []
        return [message.data for file in files for message in Recording(file).messages() if message.topic == topic]

    def wait_for(self, topic: str, count: int) -> None:
        wait_until(lambda: len(self.recorded(topic)) >= count, f"{count} messages of {topic} on the disk", pause=0.2)

    def repeat_until_recorded(self, publisher, message, topic: str) -> None:
        """Best effort may lose a message; each that is kept is as it was sent."""

        def is_there() -> bool:
            publisher.publish(message)
            return bool(self.recorded(topic))

        wait_until(is_there, f"{topic} on the disk", pause=0.2)
        assert all(deserialize_message(data, type(message)) == message for data in self.recorded(topic))

    def forgotten(self) -> None:
        """Wait until the graph knows that a killed recorder is gone."""
        self.probe.spin_until(lambda: self.batches.get_subscription_count() == 0)


@pytest.fixture
def run(probe, tmp_path):
    run = Run(probe, tmp_path)
    yield run
    for process in run.processes:
        process.kill()
        process.wait()


def test_everything_of_a_run_is_recorded_and_the_recorder_ends_with_it(run):
    recorder = run.start()
    policy = artifact_to_msg(make(3, CONTRACT).onnx, version=3)
    policy.run_id = "run-a"
    run.policies.publish(policy)
    run.status.publish(LearnerStatus(run_id="run-a", target_steps=7))
    for i in range(20):
        run.send_batch()
        run.episodes.publish(EpisodeSummary(run_id="run-a", episode=i))
    state = JointState(name=list(CONTRACT.joint_names), position=[0.5] * 7)
    run.repeat_until_recorded(run.states, state, "/ompo/joint_states")
    run.repeat_until_recorded(run.commands, Float64MultiArray(data=[0.5] * 7), COMMAND_TOPIC)
    run.wait_for(TARGET, 20)
    run.wait_for("/ompo/target/episodes", 20)
    run.ended.publish(RunEnded(run_id="run-b"))
    run.ended.publish(RunEnded(run_id="run-a"))
    run.probe.spin_until(lambda: recorder.poll() is not None)
    assert recorder.returncode == 0

    (path,) = recording_files(run.folder)
    recording = Recording(path)
    assert [batch.sequence for batch in recording.batches()] == list(range(20))
    assert np.array_equal(next(recording.batches()).transitions.obs, episode(seed=0).obs)
    assert recording.damage == ""
    assert recording.contract == CONTRACT
    assert recording.about["command_topic"] == COMMAND_TOPIC
    (status,) = run.recorded("/ompo/status")
    assert deserialize_message(status, LearnerStatus).target_steps == 7
    (kept,) = recording.policies
    assert json.loads(kept["manifest"])["version"] == 3
    (shown,) = run.recorded("/ompo/policy/latest")
    shown = deserialize_message(shown, PolicyArtifact)
    assert (shown.version, shown.sha256, len(shown.onnx)) == (3, policy.sha256, 0)
    with path.open("rb") as file:
        assert make_reader(file, validate_crcs=True).get_summary().statistics.message_count >= 45


def test_a_killed_recorder_loses_nothing_that_was_on_the_disk_and_the_next_goes_on(run):
    recorder = run.start()
    for _ in range(12):
        run.send_batch()
    run.wait_for(TARGET, 12)
    for _ in range(5):
        run.send_batch()
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    (path,) = recording_files(run.folder)
    sequences = [batch.sequence for batch in Recording(path).batches()]
    assert sequences == list(range(len(sequences)))
    assert len(sequences) >= 12
    with path.open("rb") as file:
        genuine = []
        try:
            for _, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
                genuine.append((channel.topic, message.data))
        except Exception:  # which one depends on where the file ends
            assert genuine
    assert [data for topic, data in genuine if topic == TARGET] == run.recorded(TARGET)

    run.forgotten()
    run.start()
    first = run.sequence
    run.send_batch()
    run.wait_for(TARGET, len(sequences) + 1)
    _, path = recording_files(run.folder)
    assert [batch.sequence for batch in Recording(path).batches()] == [first]


def test_nobody_waits_for_a_recorder_that_stands_still(run):
    recorder = run.start()
    for topic in ("/ompo/joint_states", COMMAND_TOPIC):
        (heard,) = run.probe.node.get_subscriptions_info_by_topic(topic)
        assert heard.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT, "acknowledgements mean the driver's"
    recorder.send_signal(signal.SIGSTOP)
    for _ in range(300):
        run.send_batch()  # raises where a sender has no room left
    run.commands.publish(Float64MultiArray(data=[0.0] * 7))
    assert run.commands.wait_for_all_acked()


def test_a_recorder_without_room_says_so_and_stays(run):
    recorder = run.start(keep_free=10**9)
    run.send_batch()
    run.probe.spin_until(lambda: "MB stay free: make room, or lower keep_free" in run.log.read_text())
    assert recorder.poll() is None
    assert not list(run.folder.rglob("*.mcap"))
