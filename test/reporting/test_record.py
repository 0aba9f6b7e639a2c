"""What is reported of a run: the latest episodes beside the first, the curves and the text."""

import csv

from ompo_ros.launching.arguments import ARGUMENTS
from ompo_ros.launching.files import check_arm
from ompo_ros.reporting.explanation import explanation
from ompo_ros.reporting.record import (
    WINDOW,
    Episode,
    Judgement,
    RecordedEvaluation,
    RunRecord,
    Sample,
)
from ompo_ros.reporting.report import POINTS, curves, report, thinned
from ompo_ros.reporting.run_folder import RunFolder


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


def episode(success: bool, episode_return: float) -> Episode:
    return Episode(1.0, 3, 50, dropped=0, success=int(success), episode_return=episode_return)


def test_the_latest_episodes_stand_beside_the_first():
    record = RunRecord(target_steps=1000)
    for _ in range(WINDOW):
        record.add_episode(episode(False, -4.0))
    for _ in range(WINDOW):
        record.add_episode(episode(True, -1.0))
    assert record.at_start == (0.0, -4.0)
    assert record.now == (1.0, -1.0)


def test_the_report_shows_both_evaluations_and_the_settings():
    record = RunRecord(1000, RecordedEvaluation(1, 6, 20, -4.0), RecordedEvaluation(9, 97, 100, -1.5), finished=1000)
    text = report(record, {"seed": 3})
    assert "| before | 30% of 20 episodes, return -4.00, policy 1 |" in text
    assert "| after | 97% of 100 episodes, return -1.50, policy 9 |" in text
    assert "| seed | 3 |" in text
    assert curves(record, [sample(), sample(target_steps=200)]).startswith(b"\x89PNG")


def test_the_report_says_in_words_what_the_run_came_to_and_what_to_do_with_it():
    record = RunRecord(500, RecordedEvaluation(1, 2, 10, -4.0), RecordedEvaluation(9, 38, 40, -1.5), finished=500)
    record.judgement = Judgement(True, "38/40 episodes succeed")
    text = report(record, {})
    assert "Adaptation worked: success rose by 75 points" in text
    assert "Policy 9 is stable: 38/40 episodes succeed." in text
    assert "ros2 launch ompo_ros deploy.launch.py registry_dir:=policies params_file:=params.yaml\n" in text
    arm = {"robot": "panda", "target": "mujoco", "target_domain": "creeping", "seed": 3}
    assert "params_file:=params.yaml target:=mujoco target_domain:=creeping\n" in report(record, arm), "the same arm"
    record.judgement = Judgement(False, "20/40 episodes succeed")
    text = report(record, {})
    assert "Policy 9 is not stable: 20/40 episodes succeed." in text
    activate = "`ompo policy activate 9 --registry policies`, from this folder, makes it stable all the same."
    assert text.index(activate) < text.index("deploy.launch.py")


def test_the_report_deploys_on_the_arm_of_the_run_at_the_speed_that_was_learned():
    record = RunRecord(500, after=RecordedEvaluation(9, 38, 40, -1.5), finished=500)
    record.judgement = Judgement(True, "38/40 episodes succeed")
    launched = {name: argument.default for name, argument in ARGUMENTS.items()}
    ours = {**launched, "target": "fci", "robot": "fr3", "robot_ip": "172.16.0.2", "speed_scale": "0.3"}
    commands = report(record, {**ours, "target_domain": "gaps/expressible_24"}).split("```")[1].split("\n")
    deploy = "ros2 launch ompo_ros deploy.launch.py registry_dir:=policies params_file:=params.yaml"
    fci = f"{deploy} robot:=fr3 target:=fci robot_ip:=172.16.0.2 speed_scale:=0.3"
    assert commands[1:-1] == [fci, "ompo enable", "ompo goal X Y Z"]
    there = {"target": "real", "driver": "crisp", "robot_namespace": "/left", "namespace": "lab"}
    elsewhere = {**launched, "robot": "panda", **there}
    check_arm(elsewhere)
    commands = report(record, elsewhere).split("```")[1].split("\n")
    left = f"{deploy} driver:=crisp target:=real robot_namespace:=/left namespace:=lab"
    assert commands[1:-1] == [left, "ompo enable --namespace /lab", "ompo goal X Y Z --namespace /lab"]


def test_every_column_of_both_tables_is_explained(tmp_path):
    folder = RunFolder(tmp_path, 100)
    folder.add_sample(sample())
    folder.add_episode(episode(True, -1.0))
    text = explanation()
    for table in ("metrics.csv", "episodes.csv"):
        section = text.split(f"## Columns of {table}")[1].split("## ")[0]
        with (tmp_path / table).open() as file:
            columns = next(csv.reader(file))
        assert [line.split("`")[1] for line in section.splitlines() if "`" in line] == columns


def test_a_run_that_was_never_evaluated_says_so_and_how_to_deploy_what_is_stable():
    text = report(RunRecord(0), {})
    assert "ros2 launch ompo_ros deploy.launch.py registry_dir:=policies" in text
    assert text.count("not evaluated") == 2
    assert "Whether adaptation worked is not known" in text


def test_the_evaluation_of_a_run_that_went_on_says_when_it_was():
    record = RunRecord(2000, after=RecordedEvaluation(9, 97, 100, -1.5), finished=1000)
    assert "| after | 97% of 100 episodes, return -1.50, policy 9 at 1000 target steps |" in report(record, {})


def test_curves_of_days_are_drawn_from_few_samples_that_span_them_all():
    three_days = 3 * 24 * 3600
    shown = thinned(sample(target_steps=steps) for steps in range(three_days))
    assert POINTS // 2 <= len(shown) <= POINTS + 1
    assert (shown[0].target_steps, shown[-1].target_steps) == (0, three_days - 1)
    assert thinned([]) == []


def test_the_report_says_how_long_the_arm_moved_and_how_long_it_did_not():
    record = RunRecord(1000)
    for seconds, dropped in ((5.0, 0), (8.0, 1), (12.0, 0), (13.0, 1)):
        record.add_episode(Episode(seconds, 3, 50, dropped, success=1, episode_return=-1.0))
    moved = "The arm moved for 4 s in episodes that were learned from. 8 s passed in between"
    assert moved in report(record, {"real_time_factor": "1.0"})
    assert "The arm moved" not in report(record, {"real_time_factor": "0"}), "the record has other seconds than the arm"
    assert "The arm moved" not in report(RunRecord(1000), {}), "there was no episode"
