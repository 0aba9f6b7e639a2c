"""A run's folder keeps its learner alone, its versions growing and its curves from ending it."""

import threading

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from ompo_ros.learning import checkpoint
from ompo_ros.learning.learner_folder import LEAP, LearnerFolder, UnusableRun
from ompo_ros.learning.run_log import RunLog


@pytest.fixture
def folder(tmp_path):
    """Opens the run's folder; whoever opened it before has let it go."""
    opened, warnings = [], []

    def open_folder():
        while opened:
            opened.pop().close()
        opened.append(LearnerFolder(tmp_path, 2, warnings.append))
        return opened[-1]

    open_folder.warnings = warnings
    return open_folder


def test_a_second_learner_is_refused_until_the_first_is_gone(tmp_path):
    first = LearnerFolder(tmp_path, 2, pytest.fail)
    with pytest.raises(UnusableRun, match=r"in use by another process.*choose another run_dir"):
        LearnerFolder(tmp_path, 2, pytest.fail)
    first.close()
    LearnerFolder(tmp_path, 2, pytest.fail).close()


def test_a_run_is_not_overwritten_by_a_fresh_start(small_agent, folder):
    agent = small_agent()
    run = folder()
    assert run.begin(agent, resume=False) is None
    path = run.save(agent)
    with pytest.raises(UnusableRun, match="holds a run already: resume it, or choose another run_dir"):
        folder().begin(agent, resume=False)
    assert folder().begin(agent, resume=True) == path


def test_a_version_is_never_used_twice_also_without_a_checkpoint(small_agent, folder):
    run = folder()
    assert [run.next_version() for _ in range(3)] == [1, 2, 3]
    again = folder()
    assert again.begin(small_agent(), resume=True) is None
    assert again.next_version() == 4


@pytest.mark.parametrize("content", [b"", b'{"vers', b"[]", b'{"version": -1}', b'{"version": 1e99}', b"\xff", None])
def test_where_the_versions_file_is_damaged_or_gone_versions_leap_ahead(small_agent, folder, tmp_path, content):
    run, agent = folder(), small_agent()
    run.next_version()
    run.save(agent)
    run.next_version()
    file = tmp_path / "policy_version.json"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    again = folder()
    again.begin(agent, resume=True)
    assert again.version == 1 + LEAP
    assert "policy_version.json is not usable" in folder.warnings[0]


def test_a_version_file_that_fell_behind_its_checkpoint_does_not_take_versions_back(small_agent, folder, tmp_path):
    run, agent = folder(), small_agent()
    run.version = 40
    run.save(agent)
    (tmp_path / "policy_version.json").write_text('{"version": 7}')
    again = folder()
    again.begin(agent, resume=True)
    assert again.version == 40


def test_a_version_the_disk_does_not_take_is_not_taken(folder, full_disk, tmp_path):
    run = folder()
    run.next_version()
    with full_disk(3), pytest.raises(OSError, match="too large"):
        run.next_version()
    assert run.version == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["learner.lock", "policy_version.json"]
    assert run.next_version() == 2


def curve(folder, name):
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(name)]


def test_curves_hold_each_step_once_and_the_mean_of_the_episodes_between(tmp_path):
    log = RunLog(tmp_path, pytest.fail)
    for updates in (4, 4, 8):
        log.write({"loss": float(updates)}, updates, 100)
    for value in (1.0, 2.0):
        log.add_episode(value, success=value > 1.0)
    log.write({"loss": 8.0}, 8, 200)
    log.write({"loss": 8.0}, 8, 300)
    log.close()
    assert curve(tmp_path, "learner/loss") == [(4, 4.0), (8, 8.0)]
    assert curve(tmp_path, "target/return") == [(200, 1.5)]
    assert curve(tmp_path, "target/success") == [(200, 0.5)]


def test_a_full_disk_ends_the_curves_with_a_warning_and_they_begin_again_when_there_is_room(
    tmp_path, full_disk, monkeypatch
):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # what TensorBoard's thread says at its end
    warnings = []
    log = RunLog(tmp_path, warnings.append)
    with full_disk(2_000):
        for updates in range(1, 3_000):
            log.write({"loss": 1.0}, updates, 0)
        log.close()
        RunLog(tmp_path / "new", warnings.append).close()
    assert len(warnings) == 1
    assert "curves are not written" in warnings[0]
    log.reopen()
    log.write({"loss": 2.0}, 5_000, 0)
    log.close()
    assert (5_000, 2.0) in curve(tmp_path, "learner/loss")


def test_checkpoints_of_a_run_carry_its_version(small_agent, folder):
    run, agent = folder(), small_agent()
    run.version = 9
    assert checkpoint.restore(agent, run.save(agent)) == 9
