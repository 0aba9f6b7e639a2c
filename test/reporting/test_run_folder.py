"""A run's files: every row is on the disk at once, a cut one is left out, a full disk loses nothing but time."""

import resource
from contextlib import contextmanager

import pytest
from test_record import episode, sample

from ompo_ros.reporting.record import RecordedEvaluation
from ompo_ros.reporting.report import write_report
from ompo_ros.reporting.run_folder import RunFolder


@contextmanager
def files_of_at_most(size: int):
    """What a full disk does: a write ends early, the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def steps(folder) -> list[int]:
    rows = (folder / "metrics.csv").read_text().splitlines()[1:]
    return [int(row.split(",")[1]) for row in rows]


def test_what_was_added_is_there_for_a_run_that_never_ended(tmp_path):
    folder = RunFolder(tmp_path / "run", 1000)
    assert not (tmp_path / "run").exists(), "reading a folder wrote to it"
    folder.record.before = RecordedEvaluation(1, 6, 20, -4.0)
    folder.keep_evaluations()
    folder.add_sample(sample())
    folder.add_sample(sample(target_steps=200, r_local=float("nan")))
    for success in (False, True, True):
        folder.add_episode(episode(success, -2.0))

    again = RunFolder(tmp_path / "run", 2000).record
    assert again.before == RecordedEvaluation(1, 6, 20, -4.0)
    assert again.last.target_steps == 200
    assert (again.episodes, again.dropped, again.now) == (3, 0, (2 / 3, -2.0))
    assert again.target_steps == 2000


@pytest.mark.parametrize("tail", [b"10.0,300,2", b"10.0,300,2,0.5,-3.0,400,40.0,1000,3,0.5,-0.2", b"\0" * 5000])
def test_a_row_that_a_loss_of_power_cut_is_left_out_and_overwritten(tmp_path, tail):
    folder = RunFolder(tmp_path, 1000)
    folder.add_sample(sample(target_steps=100))
    folder.add_sample(sample(target_steps=200))
    with (tmp_path / "metrics.csv").open("ab") as file:
        file.write(tail)
    again = RunFolder(tmp_path, 1000)
    assert again.record.last.target_steps == 200
    again.add_sample(sample(target_steps=400))
    assert steps(tmp_path) == [100, 200, 400]


def test_a_damaged_row_costs_no_other(tmp_path):
    folder = RunFolder(tmp_path, 1000)
    for success in (True, True, True):
        folder.add_episode(episode(success, -2.0))
    lines = (tmp_path / "episodes.csv").read_text().splitlines(keepends=True)
    (tmp_path / "episodes.csv").write_text("".join([*lines[:2], "\0\0,?\n", *lines[3:]]))
    assert RunFolder(tmp_path, 1000).record.episodes == 2


def test_rows_that_find_no_room_are_written_when_there_is_room_again(tmp_path):
    folder = RunFolder(tmp_path, 1000)
    folder.add_sample(sample(target_steps=1))
    full = (tmp_path / "metrics.csv").stat().st_size + 10
    with files_of_at_most(full):
        for taken in (2, 3):
            with pytest.raises(OSError, match="too large"):
                folder.add_sample(sample(target_steps=taken))
    assert folder.record.last.target_steps == 3
    assert steps(tmp_path) == [1], "a part of a row was left"
    folder.add_sample(sample(target_steps=4))
    assert steps(tmp_path) == [1, 2, 3, 4]


def test_the_report_is_made_from_the_files(tmp_path):
    folder = RunFolder(tmp_path, 1000)
    folder.add_sample(sample(target_steps=640))
    folder.add_episode(episode(True, -2.0))
    path = write_report(RunFolder(tmp_path, 1000), {"seed": 3})
    assert "640 target steps in 1 episodes (0 dropped)" in path.read_text()
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("content", ["{", "[]", '{"finished": "yes"}', '{"before": {"colour": 1}}'])
def test_a_damaged_record_is_kept_aside_and_the_run_goes_on(tmp_path, content):
    (tmp_path / "record.json").write_text(content)
    folder = RunFolder(tmp_path, 1000)
    assert "record.json is damaged" in folder.damage
    assert (folder.record.before, folder.record.finished) == (None, 0)
    folder.keep_evaluations()
    assert (tmp_path / "record.json.damaged").read_text() == content
    assert not RunFolder(tmp_path, 1000).damage
