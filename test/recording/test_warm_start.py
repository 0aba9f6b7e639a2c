"""A learner takes recorded transitions in as old data, or says why it does not."""

import dataclasses

import numpy as np
import pytest
from mcap.writer import Writer
from recordings import CONTRACT, add_episode, episode, record, writer_in

from ompo_ros.learning import Config, checkpoint, make_agent
from ompo_ros.learning.pacing import Pacing
from ompo_ros.recording import UnusableRecording
from ompo_ros.recording.batch_recorder import BatchRecorder
from ompo_ros.recording.batches import KIND, Batch, batch_to_bytes
from ompo_ros.recording.definitions import definition
from ompo_ros.recording.warm_start import recorded_demonstrations, recorded_transitions
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions

SMALL = {"hidden_size": 16, "batch_size": 32, "local_capacity": 100, "global_capacity": 2000, "threads": 1}


def read(*paths, contract=CONTRACT, warnings=None):
    return list(recorded_transitions(paths, contract, [].append if warnings is None else warnings.append))


def test_global_buffer_and_normaliser_are_filled_and_no_step_is_counted(tmp_path):
    writer = writer_in(tmp_path / "recordings")
    for number in range(4):
        add_episode(writer, number, origin=Origin.TARGET if number % 2 else Origin.SOURCE)
    writer.close()
    agent = make_agent(Config(normalize_obs=True, **SMALL), 20, 7, 0, "cpu")
    found = read(tmp_path)
    for transitions in found:
        agent.recall(transitions)
    assert (agent.experience.global_.size, agent.experience.local.size) == (200, 0)
    assert set(agent.experience.seen.values()) == {0}
    assert [len(agent.experience.places(origin)) for origin in (Origin.SOURCE, Origin.TARGET)] == [100, 100]
    every = np.concatenate([transitions.obs for transitions in found])
    assert np.allclose(agent.normalizer.statistics.mean, every.mean(0), atol=1e-6)
    assert agent.experience.initial.size == 4
    assert agent.ready
    agent.update(3)
    assert agent.paced_steps == 100


def test_updates_for_recorded_steps_are_made_once_also_after_a_resume(tmp_path):
    agent = make_agent(Config(**SMALL), 20, 7, 0, "cpu")
    for transitions in read(record(tmp_path / "run", episodes=2)):
        agent.recall(transitions)
    pacing = Pacing(warmup=50, update_to_data=0.5)
    agent.update(pacing.updates_due(0, agent.paced_steps, agent.updates))
    assert agent.updates == 50
    resumed = checkpoint.load(checkpoint.save(agent, tmp_path / "checkpoints"), "cpu")
    assert resumed.paced_steps == 100
    assert pacing.updates_due(0, resumed.paced_steps, resumed.updates) == 0


def test_the_targets_own_initial_states_take_the_place_of_recorded_ones(tmp_path):
    path = record(tmp_path, episodes=2)
    agent = make_agent(Config(**SMALL), 20, 7, 0, "cpu")
    for transitions in read(path):
        agent.recall(transitions)
    fresh = dataclasses.replace(read(path)[0], obs=read(path)[1].obs)
    agent.observe(fresh)
    assert agent.experience.initial.size == 1
    assert agent.experience.seen[Origin.TARGET] == 50


@pytest.mark.parametrize(
    ("contract", "difference"),
    [
        (Task("reach", "sparse").on(load_robot("panda")), "task is 'reach_sparse' instead of 'reach_dense'"),
        (Task("reach", "dense").on(load_robot("fr3")), "robot is 'fr3' instead of 'panda'"),
        (Task("push", "dense").on(load_robot("panda")), "task is 'push_dense' instead of 'reach_dense'"),
        (
            dataclasses.replace(CONTRACT, observation=CONTRACT.observation[:-1]),
            "observation has 19 entries instead of 20",
        ),
        (
            dataclasses.replace(CONTRACT, action=CONTRACT.action[::-1]),
            r"action\[0\] is Signal\(name='increment.panda_joint7'.* instead of .*panda_joint1",
        ),
        (dataclasses.replace(CONTRACT, control_rate=50.0), "control_rate is 50.0 instead of 25.0"),
    ],
)
def test_another_contract_is_refused_with_the_first_difference(tmp_path, contract, difference):
    good, bad = record(tmp_path / "good", episodes=1), record(tmp_path / "bad", episodes=1, contract=contract)
    with pytest.raises(UnusableRecording, match=difference) as refused:
        read(good, bad)
    assert str(bad) in str(refused.value)


def test_a_recording_of_another_version_is_refused(tmp_path):
    path = tmp_path / "other.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        writer.add_metadata("ompo", {"format": "1", "contract": CONTRACT.to_json()})
        text = definition(KIND).replace("uint32[] domain_id ", "uint16[] domain_id ")
        channel = writer.register_channel("/t", "cdr", writer.register_schema(KIND, "ros2msg", text.encode()))
        writer.add_message(channel, 0, b"", 0)
        writer.finish()
    with pytest.raises(UnusableRecording, match=r"another version.*uint16\[\] domain_id where this release has uint32"):
        read(path)


def test_a_cut_file_gives_what_is_before_the_cut_with_a_warning(tmp_path):
    path, warnings = record(tmp_path, episodes=6), []
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert 0 < len(read(path, warnings=warnings)) < 6
    assert "readable up to byte" in warnings[0]


def test_a_recording_of_a_later_format_is_refused(tmp_path):
    path = tmp_path / "later.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2")
        writer.add_metadata("ompo", {"format": "2", "contract": CONTRACT.to_json()})
        writer.finish()
    with pytest.raises(UnusableRecording, match="is of format 2, this release reads 1"):
        read(path)


@pytest.mark.parametrize(
    "values",
    [
        {"reward": np.full(50, 1e6, np.float32)},
        {"action": np.full((50, 7), 1.5, np.float32)},
        {"action": np.zeros((50, 6), np.float32), "command": None},
    ],
    ids=["reward", "action", "six actions"],
)
def test_impossible_values_and_other_runs_are_left_out_with_a_warning(tmp_path, values):
    writer, warnings = writer_in(tmp_path), []
    add_episode(writer, 0)
    add_episode(writer, 1, run_id="run-b")
    impossible = dataclasses.replace(episode(seed=2), **values)
    writer.write("/t", KIND, batch_to_bytes(Batch(0, "run-a", "c", 7, 2, impossible)), 0, 0)
    writer.close()
    assert len(read(tmp_path, warnings=warnings)) == 1
    assert "2 batches left out" in warnings[0]


def test_runs_without_ros_record_what_a_warm_start_reads(tmp_path):
    (transitions,) = read(record(tmp_path / "one", episodes=1))
    recorder = BatchRecorder(tmp_path / "two", CONTRACT)
    recorder.write(transitions)
    recorder.write(dataclasses.replace(transitions, origin=Origin.SOURCE))
    recorder.close()
    first, second = read(tmp_path / "two")
    assert (first.origin, second.origin) == (Origin.TARGET, Origin.SOURCE)
    for field in dataclasses.fields(Transitions):
        if field.name != "origin":
            assert np.array_equal(getattr(first, field.name), getattr(transitions, field.name))


def test_successful_episodes_of_an_arm_become_demonstrations_whoever_moved_it(tmp_path):
    task, recorder = Task("reach", "dense"), BatchRecorder(tmp_path, CONTRACT)
    missed = episode()
    reached = dataclasses.replace(missed, next_obs=missed.next_obs.copy())
    reached.next_obs[-1, CONTRACT.slice_of("goal")] = reached.next_obs[-1, CONTRACT.slice_of("end_effector_position")]
    for origin in Origin:
        for played in (missed, reached):
            recorder.write(dataclasses.replace(played, origin=origin))
    recorder.close()
    assert [batch.origin for batch in read(tmp_path)] == [origin for origin in Origin for _ in range(2)]
    found = list(recorded_demonstrations([tmp_path], task, CONTRACT, [].append))
    assert [batch.origin for batch in found] == [Origin.DEMONSTRATION] * 2
    assert all(np.array_equal(batch.next_obs, reached.next_obs) for batch in found)
