"""What a picture of a run shows: the same goals before and after, as the arm moved."""

import numpy as np
import pytest
from recordings import evaluated_run

from ompo_ros.recording import Recording, UnusableRecording, recording_files
from ompo_ros.recording.evaluations import first_and_last

GOALS = np.array([[0.5, 0.1, 0.2], [0.4, -0.1, 0.3]])


def opened(folder):
    return [Recording(path) for path in recording_files(folder)]


def test_first_and_last_evaluation_are_paired_by_their_goals(tmp_path):
    folder = evaluated_run(tmp_path, {1: GOALS, 5: GOALS[:1], 9: GOALS[::-1]}, explored=3)
    found = first_and_last(opened(folder), goals=4)
    assert np.array([episode.goal for episode in found.before]) == pytest.approx(GOALS)
    assert np.array([episode.goal for episode in found.after]) == pytest.approx(GOALS)
    assert {episode.policy_version for episode in found.before} == {1}
    assert {episode.policy_version for episode in found.after} == {9}
    assert found.steps == 2 * 3 * 50, "of exploration between three evaluations"


def test_an_episode_has_the_posture_of_each_control_period(tmp_path):
    folder = evaluated_run(tmp_path, {1: GOALS, 9: GOALS}, explored=1)
    episode = first_and_last(opened(folder), goals=1).after[0]
    assert episode.positions.shape == (51, 7)
    assert episode.cubes is None
    assert (np.diff(episode.positions[:, 0]) > 0.0).all(), "the arm of this recording turns one way in an episode"


def test_commands_that_are_joint_states_are_no_postures(tmp_path):
    folder = evaluated_run(tmp_path, {1: GOALS, 9: GOALS}, explored=1, commands="/target_joint")
    episode = first_and_last(opened(folder), goals=1).after[0]
    assert (np.diff(episode.positions[:, 0]) > 0.0).all(), "the commands of this recording stay where they are"


def test_a_run_with_one_evaluation_has_no_picture(tmp_path):
    folder = evaluated_run(tmp_path, {1: GOALS}, explored=1)
    with pytest.raises(UnusableRecording, match="needs evaluations before and after the run, 1 of these two"):
        first_and_last(opened(folder), goals=1)


def test_evaluations_of_other_goals_are_not_compared(tmp_path):
    folder = evaluated_run(tmp_path, {1: GOALS[:1], 9: GOALS[1:]}, explored=1)
    with pytest.raises(UnusableRecording, match="no goal in common"):
        first_and_last(opened(folder), goals=1)


def test_a_cut_recording_is_compared_up_to_its_cut(tmp_path):
    folder = evaluated_run(tmp_path, {1: GOALS, 9: GOALS}, explored=1)
    (path,) = recording_files(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 4])
    with pytest.raises(UnusableRecording, match="needs evaluations"):
        first_and_last(opened(folder), goals=1)
