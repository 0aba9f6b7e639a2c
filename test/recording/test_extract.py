"""What other programs get of a recording is what was recorded."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from recordings import CONTRACT, add_episode, episode, joint_state, record, writer_in

from ompo_ros.recording import Recording, UnusableRecording, recording_files
from ompo_ros.recording.extract import JOINT_STATE, write_joint_csv, write_npz
from ompo_ros.recording.lerobot import write_lerobot
from ompo_ros.transitions import Origin


@pytest.fixture
def recorded(tmp_path):
    """A recording with three episodes of the target and one of a source."""
    writer = writer_in(tmp_path / "run" / "recordings")
    for number in range(3):
        add_episode(writer, number)
    add_episode(writer, 3, origin=Origin.SOURCE)
    writer.close()
    return [Recording(path) for path in recording_files(tmp_path / "run")]


def test_npz_holds_every_transition_with_its_origin_and_contract(recorded, tmp_path):
    assert write_npz(recorded, tmp_path / "out.npz") == 200
    with np.load(tmp_path / "out.npz", allow_pickle=False) as found:
        assert str(found["contract"]) == CONTRACT.to_json()
        assert found["origin"].tolist() == [1] * 150 + [0] * 50
        assert np.array_equal(found["obs"][50:100], episode(seed=1).obs)
        assert np.array_equal(found["truncated"], np.tile(np.arange(50) == 49, 4))


def test_csv_holds_every_joint_state(recorded, tmp_path):
    assert write_joint_csv(recorded, tmp_path / "out.csv") == 40
    head, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert head.split(",")[:2] == ["time", "position.panda_joint1"]
    assert len(head.split(",")) == 15
    times = [float(row.split(",")[0]) for row in rows]
    assert times == [0.1 * i for i in range(40)] or np.allclose(times, 0.1 * np.arange(40))
    assert rows[7].split(",")[1:8] == ["7.0"] * 7


def test_csv_leaves_out_commands_that_are_joint_states(tmp_path):
    writer = writer_in(tmp_path, commands="/target_joint")
    add_episode(writer, 0)
    writer.write("/target_joint", JOINT_STATE, joint_state(0, np.full(7, 0.1)), 0, 0)
    writer.close()
    assert write_joint_csv(map(Recording, recording_files(tmp_path)), tmp_path / "out.csv") == 10


def test_lerobot_gets_the_targets_episodes_as_a_v3_dataset(recorded, tmp_path):
    assert write_lerobot(recorded, tmp_path / "dataset") == 3
    info = json.loads((tmp_path / "dataset/meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"], info["robot_type"]) == ("v3.0", 25, "panda")
    assert (info["total_episodes"], info["total_frames"], info["splits"]) == (3, 150, {"train": "0:3"})
    assert info["features"]["action"]["shape"] == [7]
    data = pq.read_table(tmp_path / "dataset/data/chunk-000/file-000.parquet")
    assert set(data.column_names) == set(info["features"])
    assert np.array_equal(np.array(data["observation.state"].to_pylist(), np.float32)[50:100], episode(seed=1).obs)
    assert data["episode_index"].to_pylist() == [0] * 50 + [1] * 50 + [2] * 50
    assert data["next.done"].to_pylist() == [i % 50 == 49 for i in range(150)]
    episodes = pq.read_table(tmp_path / "dataset/meta/episodes/chunk-000/file-000.parquet").to_pydict()
    assert (episodes["dataset_from_index"], episodes["dataset_to_index"]) == ([0, 50, 100], [50, 100, 150])
    stats = json.loads((tmp_path / "dataset/meta/stats.json").read_text())
    assert np.allclose(stats["next.reward"]["mean"], np.mean([episode(seed=i).reward for i in range(3)]))
    with pytest.raises(UnusableRecording, match="exists already"):
        write_lerobot(recorded, tmp_path / "dataset")


def test_what_is_not_there_is_not_extracted(tmp_path):
    empty = [Recording(record(tmp_path / "empty", episodes=0))]
    for write in (write_npz, write_joint_csv, write_lerobot):
        with pytest.raises(UnusableRecording, match=r"there (is|are) no"):
            write(empty, tmp_path / "out")
    assert not (tmp_path / "out").exists()
