"""Cancelling known drives: what networks see of an action, and what is sent for theirs."""

import numpy as np
import pytest
import torch

from ompo_ros.learning.compensation import BIASES, GAINS, Compensation
from ompo_ros.learning.state import agent_arrays, buffer_arrays, check_state, counters, restore_state
from ompo_ros.transitions import Origin

GAIN, BIAS = [0.5, 1.0, 2.0], [0.4, -0.9, 0.1]


@pytest.fixture
def known():
    compensation = Compensation(3, torch.device("cpu"))
    compensation.set(GAIN, BIAS)
    return compensation


def test_what_is_sent_reaches_the_joints_as_chosen_or_as_near_as_the_drive_can(known):
    chosen = torch.rand(200, 3) * 2 - 1
    sent = known.sent(chosen)
    assert sent.abs().max() <= 1
    reached = known.effective_(sent.clone())
    torch.testing.assert_close(reached, known.reachable(chosen))
    easy = (chosen[:, 0] > -0.1) & (chosen[:, 0] < 0.9)
    torch.testing.assert_close(reached[easy, 0], chosen[easy, 0])
    assert reached[:, 0].min() >= -0.1 - 1e-6  # -1 * 0.5 + 0.4


def test_unknown_drives_change_nothing():
    compensation, chosen = Compensation(3, torch.device("cpu")), torch.rand(5, 3)
    for changed in (compensation.sent(chosen), compensation.reachable(chosen), compensation.effective_(chosen.clone())):
        torch.testing.assert_close(changed, chosen, rtol=0, atol=0)


def test_gains_and_biases_beyond_cancelling_are_bounded_and_bad_ones_refused(known):
    known.set([-3.0, 0.0, 99.0], [9.0, -9.0, 0.0])
    assert known.gain.tolist() == pytest.approx([GAINS[0], GAINS[0], GAINS[1]])
    assert known.bias.tolist() == pytest.approx([BIASES[1], BIASES[0], 0.0])
    for gain, bias in (([1.0, np.nan, 1.0], BIAS), (GAIN, [1.0, 2.0])):
        with pytest.raises(ValueError, match="3 finite gains"):
            known.set(gain, bias)


def stored_actions(agent, origin):
    rows = agent.experience.global_.used()["row"][agent.experience.places(origin)]
    return agent.layout.action(rows).clone()


def test_better_estimates_revise_the_targets_rows_and_the_sources_keep_the_drives_of_their_time(
    small_agent, transitions
):
    agent = small_agent(algorithm="sac")
    sent, of_sources = stored_actions(agent, Origin.TARGET), stored_actions(agent, Origin.SOURCE)
    agent.compensate(np.full(agent.act_dim, 0.5), np.full(agent.act_dim, 0.25))
    agent.observe(transitions(10, Origin.SOURCE, seed=5))
    agent.compensate(np.full(agent.act_dim, 0.8), np.full(agent.act_dim, -0.5))
    torch.testing.assert_close(stored_actions(agent, Origin.TARGET), 0.8 * sent - 0.5)
    torch.testing.assert_close(stored_actions(agent, Origin.SOURCE)[:100], of_sources)
    newest = torch.from_numpy(transitions(10, Origin.SOURCE, seed=5).action)
    torch.testing.assert_close(stored_actions(agent, Origin.SOURCE)[100:], 0.5 * newest + 0.25)


def test_the_local_buffer_and_recorded_rows_are_revised_as_well(small_agent, transitions):
    agent = small_agent(algorithm="ompo", fill=False)
    agent.recall(transitions(10, Origin.SOURCE, seed=1))
    agent.observe(transitions(5, Origin.TARGET, seed=2))
    agent.compensate(np.full(agent.act_dim, 0.5), np.full(agent.act_dim, 0.25))
    fresh = torch.from_numpy(transitions(5, Origin.TARGET, seed=2).action)
    torch.testing.assert_close(agent.layout.action(agent.experience.local.used()["row"]), 0.5 * fresh + 0.25)
    recorded = torch.from_numpy(transitions(10, Origin.SOURCE, seed=1).action)
    torch.testing.assert_close(stored_actions(agent, Origin.SOURCE), 0.5 * recorded + 0.25)


def test_updates_see_what_reached_the_joints(small_agent):
    agent = small_agent(algorithm="sac")
    agent.compensate(np.full(agent.act_dim, 0.5), np.full(agent.act_dim, 2.0))
    agent.learning_rng.manual_seed(3)
    seen = agent.layout.action(agent._sample())
    of_target = (seen > 1.0).all(dim=1)
    assert of_target.any(), "the target's drives have a bias of 2"
    assert not of_target.all(), "the sources' have none"


def test_a_checkpoint_keeps_the_compensation(small_agent):
    agent, other = small_agent(algorithm="ompo"), small_agent(algorithm="ompo")
    agent.compensate(np.full(agent.act_dim, 0.7), np.full(agent.act_dim, -0.3))
    arrays, counted = {**agent_arrays(agent), **buffer_arrays(agent)}, counters(agent)
    check_state(other, arrays, counted)
    restore_state(other, arrays, counted)
    obs = np.ones((4, agent.obs_dim), np.float32)
    np.testing.assert_array_equal(other.act(obs, deterministic=True), agent.act(obs, deterministic=True))
    assert not np.allclose(
        agent.act(obs, deterministic=True), small_agent(algorithm="ompo").act(obs, deterministic=True)
    )


def test_the_setting_turns_it_off(small_agent):
    agent = small_agent(algorithm="sac", compensate=False)
    agent.compensate(np.full(agent.act_dim, 0.7), np.full(agent.act_dim, -0.3))
    assert agent.compensation.gain.tolist() == [1.0] * agent.act_dim
