"""What a belief finds of arms that hide their parameters, and what it may know of them."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from target_runs import TASK, play

from ompo_ros.sim.belief import Belief
from ompo_ros.sim.belief import belief as belief_module
from ompo_ros.sim.belief.coordinates import NAMES, moments, slice_of, to_values
from ompo_ros.sim.collection import Collection
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.domain_file import write_domain
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.sim.parameters import COLUMN_NAMES
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.transitions import InvalidData, Origin

HIDDEN = """parameters:
  payload_mass: 1.2
  action_gain: [1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1.0]
  action_bias: [0.5, -0.4, 0.3, -0.5, 0.4, 0.2, -0.3]
  action_noise: 0.02
"""
LATE = HIDDEN + "  command_delay: 1\n"


def write(folder, text):
    path = folder / "hidden.yaml"
    path.write_text(text)
    return path


def belief_of(episodes, **options):
    belief = Belief(TASK, "randomized", 0, **options)
    for episode in episodes:
        belief.observe(episode)
    return belief


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    return write(tmp_path_factory.mktemp("hidden"), HIDDEN)


@pytest.fixture(scope="module")
def episodes(hidden):
    return play(hidden, 100)


@pytest.fixture(scope="module")
def fitted(episodes):
    belief = belief_of(episodes)
    assert belief.fit()
    return belief


def test_a_hundred_steps_show_gains_biases_and_payload(fitted, hidden):
    truth = to_values(moments(load_domain(hidden))[0])
    for name, tolerance in (("action_gain", 0.15), ("action_bias", 0.15), ("payload_mass", 0.5)):
        place = slice_of(name)
        np.testing.assert_allclose(fitted.mean[place], truth[place], atol=tolerance, err_msg=name)
    assert fitted.delay == 0


def test_held_out_steps_are_predicted_far_better_than_by_the_prior(fitted):
    error = fitted.prediction_error
    assert error.belief < 0.1 < 0.5 < error.prior


def test_late_commands_are_noticed(tmp_path):
    belief = belief_of(play(write(tmp_path, LATE), 100))
    belief.fit()
    assert belief.delay == 1
    assert belief.prediction_error.belief < 0.15


def test_an_arm_of_another_simulator_is_matched_as_well_as_ours_can(tmp_path):
    pytest.importorskip("pybullet")
    belief = belief_of(play(write(tmp_path, HIDDEN), 150, "panda_gym"))
    belief.fit()
    assert belief.prediction_error.belief < 0.3 < belief.prediction_error.prior


def test_too_few_steps_leave_the_prior(episodes):
    first = episodes[0]
    few = replace(first, **{name: getattr(first, name)[:10] for name in vars(first) if name != "origin"})
    belief = belief_of([few])
    assert not belief.fit()
    assert belief.domain == load_domain("randomized")


def test_only_joint_states_and_actions_count(episodes, fitted):
    """Goals, rewards and whatever else a transition carries change nothing."""
    rng = np.random.default_rng(1)

    def scrambled(episode):
        noise = {name: getattr(episode, name).copy() for name in ("obs", "next_obs", "reward")}
        noise["obs"][:, 14:] = rng.standard_normal((len(episode), 6))
        noise["next_obs"][:, 14:] = rng.standard_normal((len(episode), 6))
        noise["reward"][:] = rng.standard_normal(len(episode))
        return replace(episode, **noise, domain_id=rng.integers(0, 99, len(episode)).astype(np.uint32))

    other = belief_of([scrambled(episode) for episode in episodes])
    other.fit()
    np.testing.assert_array_equal(other.mean, fitted.mean)


def test_target_transitions_hold_nothing_that_a_stand_in_hides(episodes, tmp_path):
    """What learner and belief get of a target: joint states, what follows from them, actions, goals, rewards."""
    for episode in episodes:
        assert (episode.domain_id == 0).all()
        for obs in (episode.obs, episode.next_obs):
            np.testing.assert_allclose(obs[:, 14:17], end_effector_position(obs[:, :7].astype(float)), atol=1e-6)
        goal = episode.obs[0, 17:]
        assert (episode.obs[:, 17:] == goal).all()
        assert (episode.next_obs[:, 17:] == goal).all()
        np.testing.assert_array_equal(episode.reward, TASK.rewards(episode.next_obs))
        np.testing.assert_array_equal(episode.next_obs[:-1], episode.obs[1:])


def test_nothing_on_the_way_from_target_to_learner_and_belief_knows_the_stand_in():
    package = Path(belief_module.__file__).parents[2]
    knowing = {"ompo_ros.sim.stand_in", "ompo_ros.sim.gaps", "ompo_ros.nodes.robot_sim"}
    way = [*(package / "sim" / "belief").glob("*.py"), *(package / "learning").glob("*.py")]
    way += [*(package / "control").glob("*.py"), *(package / "nodes" / "wire").glob("*.py")]
    way += [package / "nodes" / f"{name}.py" for name in ("target_collector", "learner", "identifier")]
    for path in way:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in knowing, path
            elif isinstance(node, ast.Import):
                assert not knowing & {alias.name for alias in node.names}, path


def test_transitions_of_a_source_are_refused(episodes):
    with pytest.raises(ValueError, match="of the target"):
        belief_of([]).observe(replace(episodes[0], origin=Origin.SOURCE))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("command", {"command": None}),
        ("command", {"command": np.full((50, 7), 1e30, np.float32)}),
        ("command", {"action": np.zeros((50, 6), np.float32), "command": np.zeros((50, 6), np.float32)}),
        ("obs", {"obs": np.zeros((50, 12), np.float32), "next_obs": np.zeros((50, 12), np.float32)}),
    ],
    ids=["none", "impossible", "six joints", "six states"],
)
def test_transitions_without_sound_states_and_commands_are_refused(episodes, field, values):
    belief = belief_of([])
    with pytest.raises(InvalidData, match=f"^{field}: "):
        belief.observe(replace(episodes[0], **values))
    assert belief.target_steps == 0


def pieces_of(episodes, length):
    """The steps of episodes as a sender that loses some would have them: none after `length` others."""
    return [replace(episode, step=episode.step + episode.step // length) for episode in episodes]


def test_a_delay_that_no_two_steps_in_a_row_can_show_is_left_out(episodes):
    belief = belief_of(pieces_of(episodes, 1))
    assert belief.fit()
    assert belief.delay == 0
    assert belief.prediction_error.belief < 0.3


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    return play(write(tmp_path_factory.mktemp("late"), LATE), 150)


def test_delays_left_out_at_first_are_fitted_once_the_steps_show_them(late):
    belief = belief_of(pieces_of(late[:1], 1))
    assert belief.fit()
    assert belief.delay == 0
    for episode in late[1:]:
        belief.observe(episode)
    assert belief.fit()
    assert belief.delay == 1


def test_a_belief_stays_as_it_is_while_nothing_shows_its_delay(late):
    belief = belief_of(late)
    assert belief.fit()
    mean = belief.mean
    for piece in 20 * pieces_of(late, 1):  # until no other step is remembered
        belief.observe(piece)
    assert not belief.fit()
    assert belief.delay == 1
    np.testing.assert_array_equal(belief.mean, mean)


def test_a_prior_that_drifts_is_refused():
    with pytest.raises(ValueError, match="drifts"):
        Belief(TASK, "drifting", 0)


def test_the_same_seed_finds_the_same(episodes, fitted):
    again = belief_of(episodes)
    again.fit()
    np.testing.assert_array_equal(again.mean, fitted.mean)


def test_a_belief_is_a_domain_file_and_another_goes_on_from_it(fitted, tmp_path):
    path = tmp_path / "belief.yaml"
    write_domain(fitted.domain, path, "as of now")
    left = load_domain(path)
    resumed = Belief(TASK, "randomized", 0, start=left)
    assert resumed.domain == left
    np.testing.assert_allclose(resumed.mean, fitted.mean, rtol=0.02, atol=0.02)


def test_sources_draw_from_the_belief_from_their_next_episode_on(fitted):
    env = PandaVectorEnv(16, "reach", "dense", "randomized", threads=1)
    collection = Collection(env, seed=0)

    def biases():
        _, ended = collection.run(lambda obs: np.zeros((16, 7), np.float32), 50, policy_version=0)
        values = np.array([episode.domain for episode in ended])
        return values[:, [name.startswith("action_bias") for name in COLUMN_NAMES]].mean(axis=0)

    assert np.abs(biases()).max() < 0.1
    env.set_domain(fitted.domain)
    biases()  # the episodes that had begun
    np.testing.assert_allclose(biases(), fitted.mean[slice_of("action_bias")], atol=0.03)


def test_old_evidence_fades_if_it_is_to(episodes, tmp_path):
    belief = belief_of(episodes)
    belief.forget(half_life=10)
    for episode in play(write(tmp_path, HIDDEN.replace("[0.5, -0.4,", "[-0.5, 0.4,")), 50, seed=1):
        belief.observe(episode)
    belief.fit()
    np.testing.assert_allclose(belief.mean[slice_of("action_bias")][:2], [-0.5, 0.4], atol=0.2)
    assert belief.prediction_error.belief < 0.3, "judged by steps of the arm as it was"


def test_steps_that_no_delay_explains_do_not_bring_back_one_that_was_dropped(episodes):
    belief = belief_of(episodes)
    assert belief.fit()
    belief.forget(half_life=10)
    rng = np.random.default_rng(0)
    for episode in episodes:  # somebody shakes the arm
        shaken = rng.normal(0.0, 0.1, episode.next_obs.shape).astype(np.float32)
        belief.observe(replace(episode, next_obs=episode.next_obs + shaken))
    assert belief.fit()
    assert belief.delay == 0


def test_every_mean_has_a_name(fitted):
    assert fitted.mean.shape == fitted.deviation.shape == (len(NAMES),)
    assert (fitted.deviation > 0).all()
