"""The examples run as they are; the long ones also in a shortened form."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from shipped_policy import shipped_policy
from waiting import PATIENCE

from ompo_ros.control.collector import Collector
from ompo_ros.experiments.rehearse import Rig
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, *arguments, timeout=2 * PATIENCE):
    command = [sys.executable, EXAMPLES / f"{name}.py", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_pendulum_begins_to_learn():
    torch.set_num_threads(1)
    learner = load("pendulum").train(steps=1_020)
    assert (learner.steps, learner.agent.updates) == (1_020, 20)
    assert np.abs(learner.best_action(np.zeros(3))) <= 2.0


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_pendulum_swings_up():
    returns = [float(text) for text in re.findall(r"return +(\S+)", run("pendulum", timeout=1200))]
    assert max(returns[-2:]) > -300.0  # the learned actor still oscillates


def test_an_onnx_policy_reaches_its_goal_in_a_plain_loop(tmp_path):
    (tmp_path / "policy.onnx").write_bytes(shipped_policy(1).onnx)
    assert "success: True" in run("onnx_policy", tmp_path / "policy.onnx")


def test_the_shipped_policy_runs_on_the_example_robot():
    task, robot = Task("reach", "dense"), load_robot(str(EXAMPLES / "my_robot.yaml"))
    collector = Collector(robot, task, seed=0)
    collector.player.policy = PolicyRuntime(shipped_policy(1), task.on(robot))
    arm = make_stand_in("mujoco", "nominal", task, robot, seed=0, command_timeout=0.5)
    evaluation = collector.player.evaluate(collector.player.policy, 3)
    playing = Rig(arm, collector).episodes()
    while not evaluation.done:
        next(playing)
    assert [episode.success for episode in evaluation.played] == [True] * 3


def test_an_own_task_is_learned_over_ros():
    output = run("my_task", 200)  # the last hundred are played only as the learner makes its updates
    assert re.findall(r"^ +(\d+) steps", output, re.MULTILINE) == ["50", "100", "150", "200"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_arm_learns_to_hover():
    missed = [float(text) for text in re.findall(r"ended +(\S+) cm", run("my_task", timeout=1500))]
    assert np.mean(missed[:3]) > 8.0
    assert np.mean(missed[-5:]) < 5.0
