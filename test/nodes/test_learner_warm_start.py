"""A learner node that is given recordings: it takes them in, or refuses to start."""

import dataclasses

import numpy as np
import pytest
from learner_peer import SMALL
from recordings import CONTRACT, episode, record

from ompo_ros.recording.batch_recorder import BatchRecorder
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task


def test_a_learner_starts_warm_from_several_recordings_and_says_so(make, tmp_path, capfd):
    first, second = record(tmp_path / "one", episodes=2), record(tmp_path / "two", episodes=3)
    make("learner", warm_start=f"{first},{second.parent}", run_dir=tmp_path / "run", device="cpu", **SMALL)
    assert "starting warm with 250 recorded steps of targets, 0 of sources" in capfd.readouterr().err


def test_recorded_actions_that_no_policy_takes_are_left_out_of_a_warm_start(make, tmp_path, capfd):
    recorder = BatchRecorder(tmp_path / "one", CONTRACT)
    recorder.write(episode())
    recorder.write(dataclasses.replace(episode(), action=np.full((50, 7), 1.5, np.float32)))
    recorder.close()
    make("learner", warm_start=tmp_path / "one", run_dir=tmp_path / "run", device="cpu", **SMALL)
    said = capfd.readouterr().err
    assert "1 batches left out" in said
    assert "starting warm with 50 recorded steps of targets" in said


def test_a_resumed_learner_has_them_already(make, tmp_path, capfd):
    path = record(tmp_path / "one", episodes=2)
    given = {"warm_start": path, "run_dir": tmp_path / "run", "device": "cpu", "resume": True, **SMALL}
    make("learner", **given).destroy_node()
    path.unlink()
    capfd.readouterr()
    from in_process import KINDS  # a second node in the context of the first

    KINDS["learner"]().destroy_node()
    assert "resumed from" in capfd.readouterr().err


def test_another_robots_recording_is_refused_with_the_first_difference(make, tmp_path):
    path = record(tmp_path / "fr3", episodes=1, contract=Task("reach", "dense").on(load_robot("fr3")))
    with pytest.raises(ValueError, match="is of another contract than this run: robot is 'fr3' instead of 'panda'"):
        make("learner", warm_start=path, run_dir=tmp_path / "run", device="cpu", **SMALL)
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_the_robot_of_the_run_decides_whose_recordings_fit(make, tmp_path, capfd):
    path = record(tmp_path / "fr3", episodes=1, contract=Task("reach", "dense").on(load_robot("fr3")))
    make("learner", robot="fr3", warm_start=path, run_dir=tmp_path / "run", device="cpu", **SMALL)
    assert "starting warm with 50 recorded steps of targets" in capfd.readouterr().err


def test_a_recording_without_transitions_is_refused(make, tmp_path):
    path = record(tmp_path / "empty", episodes=0)
    with pytest.raises(ValueError, match="holds no transition"):
        make("learner", warm_start=path, run_dir=tmp_path / "run", device="cpu", **SMALL)


def test_recordings_without_a_success_are_no_demonstrations(make, tmp_path):
    path = record(tmp_path / "failed", episodes=2)
    with pytest.raises(ValueError, match="holds no successful episode of an arm"):
        make("learner", demonstrations=path, run_dir=tmp_path / "run", device="cpu", **SMALL)


def test_demonstrations_are_said_and_without_a_share_a_warning_says_so(make, tmp_path, capfd):
    recorder, played = BatchRecorder(tmp_path / "shown", CONTRACT), episode()
    played.next_obs[-1, CONTRACT.slice_of("goal")] = played.next_obs[-1, CONTRACT.slice_of("end_effector_position")]
    recorder.write(played)
    recorder.close()
    make("learner", demonstrations=tmp_path / "shown", run_dir=tmp_path / "run", device="cpu", **SMALL)
    said = capfd.readouterr().err
    assert "starting with 50 demonstrated steps" in said
    assert "learning.demonstration_share is 0" in said
