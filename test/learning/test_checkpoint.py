"""A learner goes through the disk to the bit; what is damaged or does not fit is refused by name."""

import json
import shutil

import numpy as np
import pytest
import torch

from ompo_ros.learning import ALGORITHMS, checkpoint
from ompo_ros.learning.checkpoint import CheckpointError
from ompo_ros.learning.state import agent_arrays, buffer_arrays, counters
from ompo_ros.transitions import Origin


def state(agent):
    return {**agent_arrays(agent), **buffer_arrays(agent)}, counters(agent)


def assert_same(one, other):
    (arrays, counted), (others, other_counted) = state(one), state(other)
    assert counted == other_counted
    assert arrays.keys() == others.keys()
    for name, values in arrays.items():
        np.testing.assert_array_equal(values, others[name], err_msg=name)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("merge", ["round", "immediate"])
def test_resumed_run_equals_the_straight_one(small_agent, transitions, tmp_path, algorithm, merge):
    settings = {"algorithm": algorithm, "merge": merge, "normalize_obs": True, "normalize_reward": True}
    settings["actor_average_tau"] = 1.0 if merge == "round" else 0.1
    straight = small_agent(**settings)
    straight.update(5)
    straight.act(np.zeros(5, np.float32))
    resumed = checkpoint.load(checkpoint.save(straight, tmp_path), device="cpu")
    assert_same(straight, resumed)
    for agent in (straight, resumed):
        agent.observe(transitions(33, Origin.TARGET, seed=7))
        agent.update(6)
    assert_same(straight, resumed)
    obs = np.ones(5, np.float32)
    np.testing.assert_array_equal(straight.act(obs), resumed.act(obs))


def test_a_waiting_round_survives(small_agent, tmp_path):
    agent = small_agent()
    assert agent.experience.round_waits
    resumed = checkpoint.load(checkpoint.save(agent, tmp_path), device="cpu")
    assert resumed.experience.round_waits
    agent.update(1)
    resumed.update(1)
    assert_same(agent, resumed)


def test_only_used_rows_are_written(small_agent, tmp_path):
    agent = small_agent(global_capacity=1_000_000)
    path = checkpoint.save(agent, tmp_path)
    assert (path / "buffers.safetensors").stat().st_size < 50_000


def test_last_ones_are_kept_and_nothing_unfinished_remains(small_agent, tmp_path):
    agent = small_agent()
    (tmp_path / ".checkpoint-000000000001.77").mkdir()  # as a killed process leaves it
    paths = []
    for _ in range(5):
        agent.update(1)
        paths.append(checkpoint.save(agent, tmp_path, keep=2))
    assert checkpoint.list_checkpoints(tmp_path) == paths[-2:]
    assert sorted(tmp_path.iterdir()) == paths[-2:]
    assert checkpoint.save(agent, tmp_path, keep=2) == paths[-1]
    assert sorted(tmp_path.iterdir()) == paths[-2:]


def two_checkpoints(agent, folder):
    first = checkpoint.save(agent, folder)
    agent.update(1)
    return first, checkpoint.save(agent, folder)


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit_manifest(path, **changed):
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, **changed}))


DAMAGES = {
    "agent.safetensors is damaged": lambda p: flip_a_byte(p / "agent.safetensors"),
    "buffers.safetensors is damaged": lambda p: flip_a_byte(p / "buffers.safetensors"),
    "buffers.safetensors is missing": lambda p: (p / "buffers.safetensors").unlink(),
    "manifest.json cannot be read": lambda p: (p / "manifest.json").unlink(),
    "manifest.json is not JSON": lambda p: (p / "manifest.json").write_text("{"),
    "manifest.json is not of format": lambda p: edit_manifest(p / "manifest.json", format=99),
    "its settings are not usable here, q": lambda p: edit_manifest(p / "manifest.json", config={"q": 7.0}),
}


@pytest.mark.parametrize("problem", DAMAGES)
def test_damage_is_named_and_the_previous_one_offered(small_agent, tmp_path, problem):
    first, second = two_checkpoints(small_agent(), tmp_path)
    DAMAGES[problem](second)
    with pytest.raises(CheckpointError, match=problem) as refused:
        checkpoint.load(second, device="cpu")
    assert refused.value.previous == first
    assert str(first) in str(refused.value)
    assert checkpoint.load(refused.value.previous, device="cpu").updates == 0


def test_newest_good_skips_the_damaged(small_agent, tmp_path):
    first, second = two_checkpoints(small_agent(), tmp_path)
    assert checkpoint.newest_good(tmp_path) == second
    flip_a_byte(second / "agent.safetensors")
    assert checkpoint.newest_good(tmp_path) == first
    shutil.rmtree(first)
    assert checkpoint.newest_good(tmp_path) is None
    with pytest.raises(CheckpointError, match="there is no other good one"):
        checkpoint.check(second)


@pytest.mark.parametrize(("name", "value"), [("hidden_size", 8), ("algorithm", "sac"), ("alpha", 0.5)])
def test_mismatch_is_refused_by_the_settings_name_and_changes_nothing(small_agent, tmp_path, name, value):
    path = checkpoint.save(small_agent(), tmp_path)
    other = small_agent(seed=5, **{name: value})
    before = state(other)[0]
    kept = {key: values.copy() for key, values in before.items()}
    with pytest.raises(CheckpointError, match=f"{name} is "):
        checkpoint.restore(other, path)
    for key, values in state(other)[0].items():
        np.testing.assert_array_equal(values, kept[key])


def test_failed_write_leaves_the_older_ones_alone(small_agent, tmp_path, monkeypatch):
    agent = small_agent()
    first = checkpoint.save(agent, tmp_path)
    agent.update(1)

    def full_disk(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full_disk)
    with pytest.raises(OSError, match="No space"):
        checkpoint.save(agent, tmp_path, keep=1)
    assert checkpoint.list_checkpoints(tmp_path) == [first]
    assert torch.equal(checkpoint.load(first, device="cpu").target_critic.flat, small_agent().target_critic.flat)
