"""What is told of a run: the latest episodes beside the first, time left, and a folder that holds it all."""

import csv

from ompo_ros.experiments.record import WINDOW, Evaluation, RunRecord, Sample, progress_line
from ompo_ros.experiments.report import write_run


def sample(**changes) -> Sample:
    values = {
        "seconds": 10.0,
        "target_steps": 100,
        "episodes": 2,
        "success": 0.5,
        "episode_return": -3.0,
        "updates": 400,
        "updates_per_second": 40.0,
        "source_steps": 1000,
        "policy_version": 3,
        "r_local": 0.5,
        "r_global": -0.25,
    }
    return Sample(**{**values, **changes})


def test_the_latest_episodes_stand_beside_the_first():
    record = RunRecord(target_steps=1000)
    for _ in range(WINDOW):
        record.add_episode(False, -4.0)
    for _ in range(WINDOW):
        record.add_episode(True, -1.0)
    assert record.at_start == (0.0, -4.0)
    assert record.now == (1.0, -1.0)


def test_the_progress_line_tells_all_a_user_asks_for():
    record = RunRecord(target_steps=1000, samples=[sample()])
    record.add_episode(True, -2.0)
    line = progress_line(record)
    assert "100/1000 steps, 1 episodes" in line
    assert "success 100% (first 100%), return -2.00 (first -2.00)" in line
    assert "R gap +0.75 | 40 updates/s | policy 3 | 1:30 left" in line


def test_before_the_first_sample_and_without_an_end_there_is_a_line_too():
    assert "waiting" in progress_line(RunRecord(target_steps=0))
    assert "∞" in progress_line(RunRecord(target_steps=0, samples=[sample(seconds=0.0)]))


def test_a_finished_run_leaves_a_table_curves_and_a_report(tmp_path):
    record = RunRecord(1000, before=Evaluation(1, 6, 20, -4.0), samples=[sample(), sample(target_steps=200)])
    record.after = Evaluation(9, 97, 100, -1.5)
    report = write_run(tmp_path / "run", record, {"seed": 3}).read_text()
    assert "| before | 30% of 20 episodes, return -4.00, policy 1 |" in report
    assert "| after | 97% of 100 episodes, return -1.50, policy 9 |" in report
    assert "| seed | 3 |" in report
    rows = list(csv.DictReader((tmp_path / "run" / "metrics.csv").open()))
    assert [row["target_steps"] for row in rows] == ["100", "200"]
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_was_never_evaluated_says_so(tmp_path):
    report = write_run(tmp_path, RunRecord(0), {}).read_text()
    assert report.count("not evaluated") == 2
