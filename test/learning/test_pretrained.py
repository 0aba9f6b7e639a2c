"""Networks go from one run to the next whole, or are refused whole."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from ompo_ros.learning import ALGORITHMS
from ompo_ros.learning.pretrained import UnusablePretraining, load_networks, save_networks


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_new_run_acts_and_bootstraps_as_the_old_one_ended(small_agent, tmp_path, algorithm):
    old = small_agent(algorithm=algorithm, actor_average_tau=1.0)
    old.update(6)
    save_networks(old, tmp_path / "old.safetensors")
    new = small_agent(seed=1, algorithm=algorithm, actor_average_tau=0.1)
    load_networks(new, tmp_path / "old.safetensors")
    obs = np.ones(5, np.float32)
    np.testing.assert_array_equal(new.act(obs, deterministic=True), old.act(obs, deterministic=True))
    assert torch.equal(new.target_critic.flat, old.critic.flat)
    if algorithm == "td3":
        assert torch.equal(new.target_actor.flat, old.actor.flat)


@pytest.mark.parametrize("damage", ["missing", "not a file of tensors", "wider", "not finite", "without critics"])
def test_what_does_not_fit_changes_nothing_and_is_named(small_agent, tmp_path, damage):
    path = tmp_path / "networks.safetensors"
    save_networks(small_agent(hidden_size=32 if damage == "wider" else 16), path)
    tensors = load_file(path)
    if damage == "missing":
        path.unlink()
    elif damage == "not a file of tensors":
        path.write_bytes(b"nothing of the kind")
    elif damage == "not finite":
        tensors["actor.flat"][0] = float("nan")
        save_file(tensors, path)
    elif damage == "without critics":
        del tensors["critic.flat"]
        save_file(tensors, path)
    agent = small_agent(seed=1)
    before = agent.actor.flat.clone()
    with pytest.raises(UnusablePretraining, match=r"networks\.safetensors"):
        load_networks(agent, path)
    assert torch.equal(agent.actor.flat, before)


def test_normalised_observations_stay_so(small_agent, tmp_path):
    path = tmp_path / "networks.safetensors"
    old = small_agent(normalize_obs=True)
    old.update(6)
    save_networks(old, path)
    new = small_agent(seed=1, normalize_obs=True, fill=False)
    load_networks(new, path)
    obs = np.ones(5, np.float32)
    np.testing.assert_array_equal(new.act(obs, deterministic=True), old.act(obs, deterministic=True))
    with pytest.raises(UnusablePretraining, match=r"observations\.mean"):
        load_networks(small_agent(seed=1), path)
