import importlib
import sys

import gymnasium
import numpy as np
import pytest

import ompo_ros.sim  # noqa: F401 - registers the worlds
from ompo_ros.sim.registration import META_WORLD


def usable():
    try:
        importlib.import_module("ompo_ros.sim.paper.metaworld")
    except ImportError:
        return False
    return True


def name_of(task):
    return "ompo/MetaWorld" + "".join(word.capitalize() for word in task.split("-")) + "-v0"


def test_without_the_package_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "metaworld", None)
    monkeypatch.delitem(sys.modules, "ompo_ros.sim.paper.metaworld", raising=False)
    with pytest.raises(ImportError, match=r"requirements/metaworld\.txt"):
        gymnasium.make("ompo/MetaWorldHammer-v0")


@pytest.mark.skipif(not usable(), reason="the metaworld extra is not installed")
@pytest.mark.parametrize("task", META_WORLD)
def test_the_packages_own_expert_solves_the_task(task):
    from metaworld.policies import ENV_POLICY_MAP

    env = gymnasium.make(name_of(task))
    expert = ENV_POLICY_MAP[f"{task}-v3"]()
    obs, info = env.reset(seed=0)
    again, _ = env.reset(seed=0)
    np.testing.assert_array_equal(obs, again)
    for _ in range(499):
        obs, *_, info = env.step(np.clip(expert.get_action(obs), -1.0, 1.0).astype(np.float32))
        if info["is_success"]:
            break
    assert info["is_success"]
