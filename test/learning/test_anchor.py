"""An anchored actor stays near the networks it began with, and a checkpoint knows which those were."""

import numpy as np
import pytest

from ompo_ros.learning.state import agent_arrays, buffer_arrays, check_state, counters, restore_state


def moved_by_learning(agent) -> float:
    obs = np.random.default_rng(0).standard_normal((64, agent.obs_dim)).astype(np.float32)
    before = agent.act(obs, deterministic=True)
    agent.update(200)
    return float(np.abs(agent.act(obs, deterministic=True) - before).mean())


@pytest.mark.parametrize("algorithm", ["ompo", "sac", "td3"])
def test_an_anchored_actor_learns_but_stays_near_where_it_began(small_agent, algorithm):
    options = {"algorithm": algorithm, "actor_average_tau": 1.0, "actor_lr": 1e-3}
    free = moved_by_learning(small_agent(**options))
    anchored = moved_by_learning(small_agent(anchor=300.0, **options))
    assert 0.0 < anchored < 0.5 * free


def test_a_checkpoint_keeps_the_anchor(small_agent):
    agent, other = small_agent(anchor=1.0), small_agent(anchor=1.0)
    agent.update(50)
    other.initial_actor.flat.data.zero_()
    arrays, counted = {**agent_arrays(agent), **buffer_arrays(agent)}, counters(agent)
    check_state(other, arrays, counted)
    restore_state(other, arrays, counted)
    assert (other.initial_actor.flat == agent.initial_actor.flat).all()
    assert (agent.initial_actor.flat != agent.actor.flat).any()
