"""Experience from many arms: whole episodes, each transition followed by the next of its arm, under its own domain."""

import numpy as np
import pytest

from ompo_ros.sim.collection import Collection
from ompo_ros.sim.domain import load_domain
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.tasks import EPISODE_STEPS
from ompo_ros.transitions import Origin

ARMS = 3


@pytest.fixture
def collection():
    env = PandaVectorEnv(ARMS, "reach", "dense", "randomized", threads=1)
    yield Collection(env, seed=4)
    env.close()


def random_actions(seed: int):
    rng = np.random.default_rng(seed)
    return lambda obs: rng.uniform(-1.0, 1.0, (len(obs), 7)).astype(np.float32)


def by_arm(values):
    return values.reshape(-1, ARMS, *values.shape[1:])


def test_a_transition_leads_to_the_next_of_its_arm(collection):
    transitions, _ = collection.run(random_actions(0), 20, policy_version=0)
    obs, next_obs = by_arm(transitions.obs), by_arm(transitions.next_obs)
    np.testing.assert_array_equal(next_obs[:-1], obs[1:])
    assert transitions.origin is Origin.SOURCE


def test_episodes_go_on_from_call_to_call_and_begin_at_step_zero(collection):
    act = random_actions(0)
    parts = [collection.run(act, 20, policy_version=version) for version in (1, 2, 3)]
    steps = np.concatenate([by_arm(transitions.step) for transitions, _ in parts])[:, 0]
    np.testing.assert_array_equal(steps, np.arange(60) % EPISODE_STEPS)
    assert [transitions.policy_version[0] for transitions, _ in parts] == [1, 2, 3]


def test_an_episode_is_summed_up_when_it_ends_under_its_own_domain(collection):
    transitions, episodes = collection.run(random_actions(0), EPISODE_STEPS + 5, policy_version=7)
    assert [episode.steps for episode in episodes] == [EPISODE_STEPS] * ARMS
    for arm, episode in enumerate(episodes):
        rewards = by_arm(transitions.reward)[:EPISODE_STEPS, arm]
        domains = by_arm(transitions.domain_id)[:, arm]
        assert episode.episode_return == pytest.approx(float(rewards.sum()), rel=1e-5)
        assert set(domains[:EPISODE_STEPS]) == {episode.domain_id}
        assert set(domains[EPISODE_STEPS:]) == {episode.domain_id + ARMS}
    assert len({episode.domain for episode in episodes}) == ARMS


def test_the_end_of_an_episode_is_a_truncation_that_keeps_its_last_observation(collection):
    transitions, _ = collection.run(random_actions(0), EPISODE_STEPS + 1, policy_version=0)
    ends = by_arm(transitions.truncated)[:, 0]
    assert ends.nonzero()[0].tolist() == [EPISODE_STEPS - 1]
    assert not transitions.terminated.any()
    last, first = by_arm(transitions.next_obs)[EPISODE_STEPS - 1, 0], by_arm(transitions.obs)[EPISODE_STEPS, 0]
    assert not np.array_equal(last, first)


def test_a_restart_breaks_off_every_episode_and_counts_on(collection):
    before, _ = collection.run(random_actions(0), 20, policy_version=0)
    collection.restart(load_domain("nominal"))
    transitions, episodes = collection.run(random_actions(0), EPISODE_STEPS, policy_version=0)
    np.testing.assert_array_equal(by_arm(transitions.step)[:, 0], np.arange(EPISODE_STEPS))
    assert [episode.steps for episode in episodes] == [EPISODE_STEPS] * ARMS
    assert len({episode.domain for episode in episodes}) == 1
    assert not set(transitions.domain_id) & set(before.domain_id)
    rewards = by_arm(transitions.reward).sum(axis=0)
    assert [episode.episode_return for episode in episodes] == pytest.approx(rewards.tolist(), rel=1e-5)
