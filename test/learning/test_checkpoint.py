"""A learner goes through the disk to the bit; what is damaged or does not fit is refused by name."""

import hashlib
import json
import os
import shutil
import signal
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ompo_ros.learning import ALGORITHMS, checkpoint
from ompo_ros.learning.checkpoint import CheckpointError
from ompo_ros.learning.config import ON_SOURCES
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
    settings["demonstration_share"] = 0.0 if algorithm in ON_SOURCES else 0.25
    straight = small_agent(**settings)
    straight.observe(transitions(20, Origin.DEMONSTRATION, seed=5))
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
    (tmp_path / ".checkpoint-000001-0").mkdir()  # as a killed process leaves it
    paths = []
    for _ in range(5):
        agent.update(1)
        paths.append(checkpoint.save(agent, tmp_path, keep=2))
    assert checkpoint.list_checkpoints(tmp_path) == paths[-2:]
    assert sorted(tmp_path.iterdir()) == paths[-2:]
    again = checkpoint.save(agent, tmp_path, keep=2)
    assert sorted(tmp_path.iterdir()) == [paths[-1], again]


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


def seal(path):
    """Make the sums agree with the files again, so that only what they say can be wrong."""
    names = ("agent.safetensors", "buffers.safetensors", "manifest.json")
    sums = {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in names}
    (path / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))


def edit_counters(path, edit):
    counted = json.loads((path / "manifest.json").read_text())["counters"]
    edit(counted)
    edit_manifest(path / "manifest.json", counters=counted)


def edit_arrays(path, file, edit):
    arrays = load_file(path / file)
    edit(arrays)
    save_file(arrays, path / file)


DAMAGES = {
    "agent.safetensors is damaged": lambda p: flip_a_byte(p / "agent.safetensors"),
    "buffers.safetensors is damaged": lambda p: flip_a_byte(p / "buffers.safetensors"),
    "buffers.safetensors is missing": lambda p: (p / "buffers.safetensors").unlink(),
    "manifest.json cannot be read": lambda p: (p / "manifest.json").unlink(),
    "manifest.json is not JSON": lambda p: (p / "manifest.json").write_text("{"),
    "manifest.json is not of format": lambda p: edit_manifest(p / "manifest.json", format=99),
    "manifest.json is damaged": lambda p: edit_counters(p, lambda c: c["rings"]["global"].update(size=3)),
    "SHA256SUMS cannot be read": lambda p: (p / "SHA256SUMS").unlink(),
    "its settings are not usable here, q": lambda p: (
        edit_manifest(p / "manifest.json", config={"q": 7.0}),
        seal(p),
    ),
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


AGENT, BUFFERS = "agent.safetensors", "buffers.safetensors"
UNFIT = {
    "holds no actor": lambda p: edit_arrays(p, AGENT, lambda a: a.pop("actor.flat")),
    "actor.flat is float32": lambda p: edit_arrays(p, AGENT, lambda a: a.update({"actor.flat": a["actor.flat"][:-1]})),
    "global.row is float64": lambda p: edit_arrays(
        p, BUFFERS, lambda a: a.update({"global.row": a["global.row"].astype(np.float64)})
    ),
    "observations.mean is not finite": lambda p: edit_arrays(p, AGENT, lambda a: a["observations.mean"].fill(np.nan)),
    "learning_rng is no state": lambda p: edit_arrays(p, AGENT, lambda a: a["learning_rng"].fill(255)),
    "D_G has 501 rows": lambda p: edit_counters(p, lambda c: c["rings"]["global"].update(size=501)),
    "global.row is float32": lambda p: edit_counters(p, lambda c: c["rings"]["global"].update(size=3)),
    "counters.rings.local has": lambda p: edit_counters(p, lambda c: c["rings"]["local"].pop("size")),
    "counters.updates is -1": lambda p: edit_counters(p, lambda c: c.update(updates=-1)),
    "counters.updates is '1'": lambda p: edit_counters(p, lambda c: c.update(updates="1")),
}


@pytest.mark.parametrize("problem", UNFIT)
def test_what_does_not_fit_is_passed_over_with_a_warning_and_leaves_the_learner_untouched(
    small_agent, tmp_path, problem
):
    first, second = two_checkpoints(small_agent(), tmp_path)
    UNFIT[problem](second)
    seal(second)
    agent, untouched, warnings = small_agent(seed=5), small_agent(seed=5), []
    with pytest.raises(CheckpointError, match=problem):
        checkpoint.restore(agent, second)
    assert_same(agent, untouched)
    assert checkpoint.restore_newest(agent, tmp_path, warnings.append) == (first, 0)
    assert_same(agent, small_agent())
    assert [str(second) in warning and problem in warning for warning in warnings] == [True]


def test_where_every_checkpoint_is_bad_a_fresh_start_is_refused(small_agent, tmp_path):
    agent, warnings = small_agent(), []
    assert checkpoint.restore_newest(agent, tmp_path, warnings.append) is None
    for path in [checkpoint.save(agent, tmp_path, keep=20) for _ in range(20)]:
        flip_a_byte(path / "agent.safetensors")
    with pytest.raises(CheckpointError, match="none of its checkpoints can be used; choose another run_dir"):
        checkpoint.restore_newest(agent, tmp_path, warnings.append)
    assert len(warnings) == 20


def test_other_settings_are_refused_at_once_also_where_older_checkpoints_fit(small_agent, tmp_path):
    checkpoint.save(small_agent(), tmp_path)
    checkpoint.save(small_agent(alpha=0.5), tmp_path)
    with pytest.raises(checkpoint.SettingsDiffer, match=r"alpha is 0.5 in it and 0.001 in this run"):
        checkpoint.restore_newest(small_agent(), tmp_path, pytest.fail)


def test_after_a_step_back_the_next_checkpoint_is_the_newest(small_agent, tmp_path):
    first, second = two_checkpoints(small_agent(), tmp_path)
    flip_a_byte(second / "manifest.json")
    agent = small_agent()
    assert checkpoint.restore_newest(agent, tmp_path, lambda _: None) == (first, 0)
    third = checkpoint.save(agent, tmp_path, keep=1, policy_version=12)
    assert checkpoint.restore_newest(agent, tmp_path, pytest.fail) == (third, 12)


def killed_at_line(number, agent, folder):
    """Save in a child that is killed before a line of what writes; whether it lived to the end."""
    writers = {function.__code__ for function in (checkpoint.save, checkpoint._write, checkpoint._remove_hidden)}
    pid = os.fork()
    if pid == 0:
        left = number

        def trace(frame, event, _):
            nonlocal left
            if frame.f_code not in writers:
                return None
            left -= event == "line"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            checkpoint.save(agent, folder, keep=1)
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def test_killed_anywhere_a_save_leaves_a_good_checkpoint(small_agent, tmp_path):
    agent, line = small_agent(), 1
    checkpoint.save(agent, tmp_path, keep=1)
    while not killed_at_line(line, agent, tmp_path):
        assert checkpoint.newest_good(tmp_path), line
        checkpoint.save(agent, tmp_path, keep=1)
        line += 1
    assert line > 30
    assert len(list(tmp_path.iterdir())) == 1


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


def test_a_full_disk_leaves_the_older_ones_and_nothing_unfinished(small_agent, tmp_path, full_disk):
    agent = small_agent()
    first = checkpoint.save(agent, tmp_path)
    agent.update(1)
    for bytes_left in (100, 20_000):  # the first file does not fit; the second
        with full_disk(bytes_left), pytest.raises(OSError, match="too large"):
            checkpoint.save(agent, tmp_path, keep=1)
        assert list(tmp_path.iterdir()) == [first]
    assert_same(checkpoint.load(first, device="cpu"), small_agent())
    assert checkpoint.save(agent, tmp_path, keep=1) == checkpoint.newest_good(tmp_path)
