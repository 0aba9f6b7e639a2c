"""Parts that several tests of the learner need."""

import contextlib
import resource

import numpy as np
import pytest
import torch

from ompo_ros.learning import Config, make_agent
from ompo_ros.transitions import Origin, Transitions

OBS, ACT = 5, 2
torch.set_num_threads(1)  # tensors this small are slower on two


def make_transitions(n, origin=Origin.SOURCE, seed=0, **replaced):
    rng = np.random.default_rng(seed)
    fields = {
        "obs": rng.standard_normal((n, OBS)).astype(np.float32),
        "action": rng.uniform(-1, 1, (n, ACT)).astype(np.float32),
        "reward": rng.uniform(0.1, 1, n).astype(np.float32),
        "next_obs": rng.standard_normal((n, OBS)).astype(np.float32),
        "terminated": rng.random(n) < 0.1,
        "truncated": rng.random(n) < 0.1,
        "step": (np.arange(n) % 10).astype(np.uint32),
        "policy_version": rng.integers(0, 2**32, n, dtype=np.uint32),
        "domain_id": rng.integers(0, 2**32, n, dtype=np.uint32),
    }
    return Transitions(origin=origin, **{**fields, **replaced})


@pytest.fixture
def transitions():
    return make_transitions


@pytest.fixture
def small_agent():
    """Make a learner small enough for hand computation, with some experience of source and target."""

    def make(seed=0, fill=True, **settings):
        sizes = {
            "hidden_size": 16,
            "batch_size": 8,
            "initial_batch_size": 8,
            "local_capacity": 20,
            "global_capacity": 500,
        }
        sizes |= {"discriminator_steps": 6, "initial_capacity": 50}
        agent = make_agent(Config(**{**sizes, **settings}), OBS, ACT, seed, "cpu")
        if fill:
            agent.observe(make_transitions(100, Origin.SOURCE, seed=1))
            agent.observe(make_transitions(30, Origin.TARGET, seed=2))
        return agent

    return make


@pytest.fixture
def full_disk():
    """Let no file of this process grow beyond some bytes, as on a disk that has no more."""

    @contextlib.contextmanager
    def limit(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit
