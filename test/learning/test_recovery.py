"""A learner that lost its way goes back to where it was sound, and knows when that is no use."""

import numpy as np
import pytest
import torch

from ompo_ros.learning import ALGORITHMS, Config, make_agent
from ompo_ros.learning.recovery import CHECK_EVERY, ENOUGH, PROGRESS, Recovery
from ompo_ros.learning.state import agent_arrays, buffer_arrays
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin, Transitions

NAN = float("nan")


def all_finite(agent):
    arrays = {**agent_arrays(agent), **buffer_arrays(agent)}
    return all(np.isfinite(values).all() for values in arrays.values())


def spoil(tensor):
    with torch.no_grad():
        tensor.view(-1)[0] = NAN


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_monstrous_transition_is_survived_and_learning_goes_on(small_agent, transitions, algorithm):
    agent = small_agent(algorithm=algorithm)
    recovery = Recovery(agent)
    agent.update(20)
    monstrous = {"obs": np.full((1, 5), 1e30, np.float32), "reward": np.full(1, 3e38, np.float32)}
    agent.observe(transitions(1, Origin.SOURCE, **monstrous))
    agent.observe(transitions(30, Origin.TARGET))
    for _ in range(40):
        agent.update(5)
        if not recovery.keep_sound():
            break
    assert recovery.recoveries == 1
    assert all_finite(agent)


@pytest.mark.parametrize("name", ["actor", "critic", "target_critic", "discriminator"])
def test_every_network_is_looked_after(small_agent, name):
    agent = small_agent()
    recovery = Recovery(agent)
    assert recovery.keep_sound()
    spoil(next(agent.modules()[name].parameters()))
    assert not recovery.keep_sound()
    assert recovery.keep_sound()
    assert all_finite(agent)


def test_moments_that_are_not_finite_are_noticed(small_agent):
    agent = small_agent()
    recovery = Recovery(agent)
    spoil(agent.optimizers()["critic"].state()["0.square.0"])
    assert not recovery.keep_sound()
    assert all_finite(agent)


def test_ratings_of_a_spoilt_discriminator_are_made_anew(small_agent):
    agent = small_agent(merge="round")
    agent.update(4)
    agent.rating.discriminator.slope.fill_(1.0)  # of noise it is rightly nothing
    recovery = Recovery(agent)
    spoil(agent.rating.discriminator.network.layers[0].weight)
    agent.rating.rate(agent.experience.global_.used()["row"], agent.normalizer)
    assert not all_finite(agent)
    recovery.keep_sound()
    agent.update(2)
    assert all_finite(agent)
    assert float(agent.layout.log_ratio(agent.experience.global_.used()["row"]).abs().sum()) > 0.0


def test_progress_moves_the_state_gone_back_to(small_agent):
    agent = small_agent()
    recovery = Recovery(agent)
    assert not recovery.due
    agent.update(PROGRESS)
    assert recovery.due
    assert recovery.keep_sound()
    assert not recovery.due
    kept = agent.actor_tensors()
    agent.update(CHECK_EVERY - 1)
    assert not recovery.due
    spoil(agent.log_temperature)
    recovery.keep_sound()
    for name, values in agent.actor_tensors().items():
        np.testing.assert_array_equal(values, kept[name], err_msg=name)
    assert agent.updates == PROGRESS + CHECK_EVERY - 1  # the budget was spent


def test_recoveries_without_progress_are_hopeless_until_somebody_says_otherwise(small_agent):
    agent = small_agent()
    recovery = Recovery(agent)
    for _ in range(ENOUGH):
        assert not recovery.hopeless
        agent.updates += PROGRESS - 1
        assert recovery.keep_sound()
        spoil(agent.log_temperature)
        recovery.keep_sound()
    assert recovery.hopeless
    recovery.try_again()
    assert not recovery.hopeless


def test_the_normaliser_goes_back_with_the_networks(small_agent, transitions):
    agent = small_agent(normalize_obs=True)
    recovery = Recovery(agent)
    mean = agent.normalizer.mean.clone()
    agent.observe(transitions(10, Origin.SOURCE, obs=np.full((10, 5), 1e30, np.float32)))
    spoil(agent.log_temperature)
    recovery.keep_sound()
    assert torch.equal(agent.normalizer.mean, mean)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_that_the_tasks_bounds_let_through_can_be_learned_from(algorithm):
    contract = Task("reach", "dense").contract
    settings = {"hidden_size": 16, "batch_size": 16, "global_capacity": 500, "local_capacity": 50}
    agent = make_agent(Config(algorithm=algorithm, **settings), contract.observation_size, 7, 0, "cpu")
    rng = np.random.default_rng(0)
    for origin in Origin:
        signs = rng.choice([-1.0, 1.0], (2, 100, contract.observation_size))
        obs, next_obs = (signs * contract.bounds.obs).astype(np.float32)
        zeros = np.zeros(100, np.uint32)
        batch = Transitions(
            origin=origin,
            obs=obs,
            action=rng.choice([-1.0, 1.0], (100, 7)).astype(np.float32),
            reward=rng.choice(contract.bounds.reward, 100).astype(np.float32),
            next_obs=next_obs,
            terminated=zeros.astype(bool),
            truncated=zeros.astype(bool),
            step=zeros,
            policy_version=zeros,
            domain_id=zeros,
        )
        contract.bounds.check(batch)
        agent.observe(batch)
    agent.update(300)
    assert all_finite(agent)


def test_a_flood_of_one_origin_leaves_darc_waiting_for_the_other(small_agent, transitions):
    agent = small_agent(algorithm="darc", global_capacity=100)
    assert agent.ready
    agent.observe(transitions(100, Origin.TARGET))
    assert not agent.ready
