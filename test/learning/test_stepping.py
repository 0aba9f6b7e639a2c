"""StepLearner: what an environment's `step` returns reaches the agent, in its range and with its updates."""

import numpy as np
import pytest
import torch

from ompo_ros.learning import Config, StepLearner, make_agent
from ompo_ros.transitions import InvalidData, Origin

LOW, HIGH = np.array([-2.0, 0.0]), np.array([2.0, 10.0])
OBS = np.arange(5, dtype=np.float64)


def play(learner, steps, episode=4):
    """Take steps in an environment that counts: observation i follows observation i - 1."""
    for i in range(steps):
        action = learner.act(OBS + i)
        assert ((action >= LOW) & (action <= HIGH)).all()
        last = (i + 1) % episode == 0
        learner.observe(OBS + i + 1, float(i), terminated=last and i % 8 == 3, truncated=last and i % 8 != 3)


def test_steps_become_the_agents_transitions(small_agent):
    agent = small_agent(fill=False, setting="stationary", merge="immediate")
    play(StepLearner(agent, LOW, HIGH, warmup=100), 8)
    rows, layout = agent.experience.global_.used()["row"], agent.layout
    assert rows.shape[0] == agent.experience.seen[Origin.TARGET] == 8
    np.testing.assert_array_equal(layout.obs(rows), [OBS + i for i in range(8)])
    np.testing.assert_array_equal(layout.next_obs(rows), [OBS + i + 1 for i in range(8)])
    np.testing.assert_array_equal(layout.reward(rows), np.arange(8))
    np.testing.assert_array_equal(layout.continues(rows), [1, 1, 1, 0, 1, 1, 1, 1])
    first = agent.experience.initial.used()["obs"]
    np.testing.assert_array_equal(first, [OBS, OBS + 4])


def test_the_agent_learns_from_actions_in_its_own_range(small_agent):
    agent = small_agent(fill=False, setting="stationary")
    learner = StepLearner(agent, LOW, HIGH, warmup=100)
    sent = []
    for i in range(30):
        sent.append(learner.act(OBS))
        learner.observe(OBS, 0.0, terminated=False, truncated=i == 29)
    rows = agent.experience.global_.used()["row"]
    stored = agent.layout.obs_action(rows)[:, 5:].numpy()
    assert np.abs(stored).max() <= 1.0
    np.testing.assert_allclose(LOW + (stored + 1) / 2 * (HIGH - LOW), sent, rtol=1e-5)
    assert np.ptp(sent, axis=0).min() > 1.0  # random before the warmup ends
    np.testing.assert_array_equal(learner.best_action(OBS), learner.best_action(OBS))


@pytest.mark.parametrize(("per_step", "made"), [(0.0, 0), (0.5, 5), (1.0, 10), (2.5, 25)])
def test_updates_follow_the_steps_after_the_warmup(small_agent, per_step, made):
    agent = small_agent(fill=False, setting="stationary")
    play(StepLearner(agent, LOW, HIGH, warmup=10, updates_per_step=per_step), 20)
    assert agent.updates == made


def test_two_environments_can_feed_one_agent(small_agent):
    agent = small_agent(fill=False)
    play(StepLearner(agent, LOW, HIGH, origin=Origin.SOURCE, warmup=0, updates_per_step=0), 12)
    play(StepLearner(agent, LOW, HIGH, warmup=0), 4)
    seen = agent.experience.seen
    assert (seen[Origin.SOURCE], seen[Origin.TARGET]) == (12, 4)
    assert agent.updates == 4


def test_wrong_use_is_refused_with_a_reason(small_agent):
    agent = small_agent(fill=False)
    with pytest.raises(ValueError, match=r"\(2,\) is needed"):
        StepLearner(agent, LOW[:1], HIGH[:1])
    with pytest.raises(ValueError, match="finite"):
        StepLearner(agent, LOW, np.array([1.0, np.inf]))
    learner = StepLearner(agent, LOW, HIGH)
    with pytest.raises(RuntimeError, match="call act first"):
        learner.observe(OBS, 0.0, terminated=False, truncated=False)
    learner.act(OBS)
    with pytest.raises(InvalidData, match="next_obs"):
        learner.observe(OBS * np.nan, 0.0, terminated=False, truncated=False)


@pytest.mark.parametrize(("settings", "threads"), [({}, 1), ({"hidden_size": 1024}, 2), ({"threads": 2}, 2)])
def test_small_networks_use_one_thread_unless_set(settings, threads):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        make_agent(Config(global_capacity=100, **settings), 3, 1, device="cpu")
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
