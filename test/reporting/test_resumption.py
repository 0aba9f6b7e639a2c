"""A resumed run goes on with its own settings; what may change is said, what would make it another run is refused."""

import pytest
from test_record import sample

from ompo_ros.reporting.record import RecordedEvaluation
from ompo_ros.reporting.report import write_report
from ompo_ros.reporting.resumption import (
    CannotResume,
    finished_report,
    holds_run,
    keep_arguments,
    keep_start,
    resumed_arguments,
)
from ompo_ros.reporting.run_folder import RunFolder

DEFAULTS = {"task": "reach", "algorithm": "ompo", "target_steps": "2500", "log_level": "info", "resume": "true"}


@pytest.fixture
def params(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("/**/learner: {ros__parameters: {warmup: 256}}\n")
    return path


@pytest.fixture
def folder(tmp_path, params):
    """Of a run that was started with 300 steps of SAC."""
    started = {**DEFAULTS, "algorithm": "sac", "target_steps": "300", "params_file": str(params), "resume": "false"}
    keep_start(tmp_path / "run", started)
    return tmp_path / "run"


def resumed(folder, **given):
    defaults = {**DEFAULTS, "params_file": "/share/adapt.yaml", "run_dir": str(folder)}
    return resumed_arguments(folder, {**defaults, **given}, given)


def test_nothing_given_means_all_as_it_was(folder):
    arguments, changes = resumed(folder)
    assert (arguments["algorithm"], arguments["target_steps"]) == ("sac", "300")
    assert arguments["params_file"] == str(folder / "params.yaml")
    assert (arguments["resume"], arguments["run_dir"]) == ("true", str(folder))
    assert changes == []


def test_what_may_change_is_taken_and_said_and_kept(folder):
    arguments, changes = resumed(folder, target_steps="600", log_level="info", algorithm="sac")
    assert (arguments["target_steps"], changes) == ("600", ["target_steps: 600 instead of 300"])
    assert resumed(folder)[0]["target_steps"] == "300", "it was kept before the run was accepted"
    keep_arguments(folder, arguments)
    assert resumed(folder)[0]["target_steps"] == "600"


def test_a_default_that_is_given_counts_as_given(folder):
    assert resumed(folder, target_steps="2500")[1] == ["target_steps: 2500 instead of 300"]


def test_what_makes_another_run_is_refused_with_both_values(folder):
    with pytest.raises(CannotResume, match=r"algorithm:=ompo .*algorithm:=sac: leave algorithm out"):
        resumed(folder, algorithm="ompo")


def test_a_parameter_file_is_compared_by_what_it_says(folder, params):
    params.write_text("# A comment.\n" + params.read_text())
    assert resumed(folder, params_file=str(params))[1] == []
    params.write_text(params.read_text().replace("256", "512"))
    with pytest.raises(CannotResume, match=r"mine.yaml differs from .*run/params.yaml"):
        resumed(folder, params_file=str(params))


def test_a_folder_without_arguments_takes_those_given(tmp_path):
    assert resumed(tmp_path, target_steps="600")[0]["target_steps"] == "600"


def test_damaged_arguments_are_refused_with_what_to_do(folder):
    (folder / "launch.json").write_text("{")
    with pytest.raises(CannotResume, match=r"launch.json is damaged .*: move it away"):
        resumed(folder)


def test_settings_alone_are_no_run(folder):
    assert not holds_run(folder)
    RunFolder(folder, 300).add_sample(sample())
    assert holds_run(folder)


def test_a_finished_run_is_shown_unless_more_steps_are_asked_for(folder):
    run = RunFolder(folder, 300)
    write_report(run, {})
    run.keep_evaluations()
    assert finished_report(folder, 300) is None
    run.record.after, run.record.finished = RecordedEvaluation(9, 97, 100, -1.5), 300
    write_report(run, {})
    run.keep_evaluations()
    assert "97% of 100 episodes" in finished_report(folder, 300)
    assert "97% of 100 episodes" in finished_report(folder, 200)
    assert finished_report(folder, 301) is None
    assert finished_report(folder, 0) is None, "an endless run is never finished"
