"""The policies that come with the package are the networks beside them, for every arm that they fit."""

import importlib.util
from pathlib import Path

import pytest

from ompo_ros.policy.artifact import policy_bytes
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.sim.panda import PandaVectorEnv
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import FAMILIES, Task

SPEC = importlib.util.spec_from_file_location(
    "export_policies", Path(__file__).parents[2] / "tools" / "export_policies.py"
)
export_policies = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(export_policies)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("task", export_policies.TASKS)
def test_a_shipped_policy_is_what_its_networks_are_now(family, task):
    file = export_policies.file_of(family, task)
    assert not export_policies.is_stale(file, export_policies.policy_of(family, task)), "run tools/export_policies.py"
    assert PolicyRuntime(policy_bytes(file), Task(task, "dense").on(load_robot(family))).version == 1


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("domain", ["nominal", "randomized"])
@pytest.mark.parametrize(("task", "least"), [("reach", 0.95), ("push", 0.95)])
def test_the_shipped_policy_of_an_arm_reaches_its_goals_within_that_arms_limits(family, task, least, domain):
    robot, episodes = load_robot(family), 40
    env = PandaVectorEnv(episodes, task, "dense", domain, limits=robot)
    file = export_policies.file_of(family, task)
    runtime = PolicyRuntime(policy_bytes(file), Task(task, "dense").on(robot), batch=episodes)
    obs, info = env.reset(seed=500)
    for _ in range(env.contract.episode_steps):
        obs, _, _, _, info = env.step(runtime.act(obs))
    assert info["is_success"].mean() >= least


def test_other_weights_another_arm_and_a_broken_file_are_stale(tmp_path):
    ours = export_policies.policy_of("panda", "reach")
    assert export_policies.is_stale(tmp_path / "missing.onnx", ours)
    (tmp_path / "broken.onnx").write_bytes(ours.onnx[:-1])
    assert export_policies.is_stale(tmp_path / "broken.onnx", ours)
    (tmp_path / "other.onnx").write_bytes(export_policies.policy_of("fr3", "reach").onnx)
    assert export_policies.is_stale(tmp_path / "other.onnx", ours)
