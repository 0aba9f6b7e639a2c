import dataclasses
import json

import numpy as np
import pytest

from ompo_ros.task.contract import Contract
from ompo_ros.task.kinematics import JOINT_HIGH, JOINT_NAMES, JOINT_SPEED
from ompo_ros.task.tasks import FARTHEST, Task
from ompo_ros.transitions import InvalidData, Origin, Transitions

ALL_TASKS = [Task(name, reward) for name in ("reach", "push") for reward in ("dense", "sparse")]


@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.contract.task)
def test_survives_json(task):
    assert Contract.from_json(task.contract.to_json()) == task.contract


def test_reach_needs_joint_states_and_nothing_else_of_the_robot():
    contract = Task("reach", "dense").contract
    assert contract.observation_size == 20
    assert contract.action_size == 7
    assert [signal.name for signal in contract.observation[:7]] == [f"position.{name}" for name in JOINT_NAMES]
    assert {signal.source for signal in contract.observation} == {
        "joint_states.position",
        "joint_states.velocity",
        "forward kinematics of joint_states.position",
        "the task",
    }
    assert {signal.unit for signal in contract.observation} == {"rad", "rad/s", "m"}
    assert contract.control_rate == 25.0


def test_push_says_what_joint_states_cannot_tell():
    contract = Task("push", "dense").contract
    assert contract.observation_size == 23
    assert "tracker" in contract.observation[contract.slice_of("cube_position").start].source


def test_names_must_be_distinct():
    contract = Task("reach", "dense").contract
    with pytest.raises(ValueError, match="distinct"):
        dataclasses.replace(contract, action=(contract.action[0],) * 7)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"robot": "panda"})])
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="not a contract"):
        Contract.from_json(text)


@pytest.mark.parametrize(("name", "reward"), [("fly", "dense"), ("reach", "huge")])
def test_unknown_tasks_are_refused(name, reward):
    with pytest.raises(ValueError, match="choose"):
        Task(name, reward)


def test_rewards_and_success_follow_the_distance():
    reach = Task("reach", "dense")
    goal = np.array([[0.6, 0.0, 0.2]] * 3)
    hand = goal + np.array([[0.0, 0.0, 0.0], [0.036, 0.0, 0.048], [0.0, 3.0, 0.0]])
    zeros = np.zeros((3, 7))
    obs = reach.observation(zeros, zeros, hand, np.zeros((3, 3)), goal)
    np.testing.assert_allclose(reach.rewards(obs), [0.0, -0.06, -1.9], atol=1e-6)
    np.testing.assert_array_equal(reach.is_success(obs), [True, False, False])
    np.testing.assert_array_equal(Task("reach", "sparse").rewards(obs), [0.0, -1.0, -1.0])


def test_pushing_is_about_the_cube():
    push = Task("push", "dense")
    goal = np.array([[0.6, 0.0, 0.02]])
    cube, hand = goal + np.array([0.0, 0.1, 0.0]), goal + np.array([0.0, 0.3, 0.0])
    obs = push.observation(np.zeros((1, 7)), np.zeros((1, 7)), hand, cube, goal)
    np.testing.assert_allclose(push.rewards(obs), [-0.1 - 0.5 * 0.2], atol=1e-6)
    assert not push.is_success(obs)[0]
    there = push.observation(np.zeros((1, 7)), np.zeros((1, 7)), hand, goal, goal)
    assert push.is_success(there)[0]


def test_goals_fill_their_region():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(Task("reach", "dense").goals(corners), [[0.45, -0.15, 0.0], [0.75, 0.15, 0.3]])
    np.testing.assert_allclose(Task("push", "dense").goals(corners), [[0.45, -0.15, 0.02], [0.75, 0.15, 0.02]])


def possible(contract, **replaced):
    size = contract.observation_size
    zeros = np.zeros(3, np.uint32)
    fields = {"obs": np.zeros((3, size), np.float32), "next_obs": np.zeros((3, size), np.float32)}
    fields |= {"action": np.zeros((3, contract.action_size), np.float32), "reward": np.full(3, -0.5, np.float32)}
    flags = {"terminated": zeros.astype(bool), "truncated": zeros.astype(bool)}
    counts = {"step": zeros, "policy_version": zeros, "domain_id": zeros}
    return Transitions(origin=Origin.TARGET, **{**fields, **flags, **counts, **replaced})


@pytest.mark.parametrize("task", [Task("reach", "dense"), Task("push", "sparse")], ids=str)
@pytest.mark.parametrize("field", ["obs", "next_obs", "reward", "action"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bounds_name_the_field_that_leaves_them(task, field, sign):
    contract = task.contract
    contract.bounds.check(possible(contract))
    values = getattr(possible(contract), field).copy()
    values.flat[-1] = sign * 1e4
    with pytest.raises(InvalidData, match=f"^{field}: "):
        contract.bounds.check(possible(contract, **{field: values}))


def test_bounds_ask_for_the_contracts_actions():
    contract = Task("reach", "dense").contract
    contract.bounds.check(possible(contract, action=np.full((3, 7), -1.0, np.float32)))
    for action in (np.zeros((3, 6), np.float32), np.full((3, 7), 1.01, np.float32)):
        with pytest.raises(InvalidData, match=r"^action: "):
            contract.bounds.check(possible(contract, action=action))


def test_bounds_hold_what_an_arm_can_do_and_more():
    bounds = Task("reach", "dense").contract.bounds
    assert (bounds.obs[:7] > 10 * JOINT_HIGH.max()).all()
    assert (bounds.obs[7:14] > 100 * JOINT_SPEED.max()).all()
    assert bounds.reward[0] < -10 * FARTHEST
