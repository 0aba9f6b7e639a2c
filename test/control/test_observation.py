"""Joint states as robots really send them: other orders, other joints between, and broken ones."""

import numpy as np
import pytest

from ompo_ros.control.observation import BadJointState, ForeignJointState, JointStateReader, observe
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

ROBOT = load_robot("panda")
NAMES = list(ROBOT.joint_names)
VALUES = np.arange(7.0)


@pytest.fixture
def reader():
    return JointStateReader(ROBOT)


def test_joints_are_found_by_name_in_any_order_among_others(reader):
    names = ["panda_finger_joint1", *reversed(NAMES), "panda_finger_joint2"]
    position, velocity = reader.read(names, [9.0, *VALUES[::-1], 9.0], [8.0, *-VALUES[::-1], 8.0])
    np.testing.assert_array_equal(position, VALUES)
    np.testing.assert_array_equal(velocity, -VALUES)


def test_the_order_may_change_between_messages(reader):
    reader.read(NAMES, VALUES, VALUES)
    position, _ = reader.read(NAMES[::-1], VALUES[::-1], VALUES[::-1])
    np.testing.assert_array_equal(position, VALUES)


def test_efforts_are_those_of_the_same_joints_or_none_where_the_driver_measures_none(reader):
    reader.read(["panda_finger_joint1", *NAMES[::-1]], [9.0, *VALUES[::-1]], np.zeros(8))
    np.testing.assert_array_equal(reader.efforts([9.0, *VALUES[::-1]]), VALUES)
    assert reader.efforts([]) is None
    assert reader.efforts([np.nan] * 8) is None


@pytest.mark.parametrize(
    ("names", "position", "velocity", "told"),
    [
        ([*NAMES[:6], "joint7"], VALUES, VALUES, "panda_joint7"),
        (NAMES, VALUES[:6], VALUES, "position holds 6"),
        (NAMES, VALUES, [], "velocity holds 0"),
        (NAMES, [*VALUES[:6], np.nan], VALUES, "position is not finite for panda_joint7"),
        (NAMES, VALUES, [np.inf, *VALUES[1:]], "velocity is not finite for panda_joint1"),
        ([*NAMES, NAMES[0]], np.zeros(8), np.zeros(8), "twice"),
    ],
)
def test_a_broken_state_is_refused_with_what_is_wrong(reader, names, position, velocity, told):
    with pytest.raises(BadJointState, match=told):
        reader.read(names, position, velocity)
    reader.read(NAMES, VALUES, VALUES)  # and the next good one is taken


def test_states_of_something_else_are_told_apart(reader):
    with pytest.raises(ForeignJointState, match=r"fr3_joint1.*expects panda_joint1.*`robot`"):
        reader.read([f"fr3_joint{i}" for i in range(1, 8)], VALUES, VALUES)


@pytest.mark.parametrize("name", ["reach", "push"])
def test_an_observation_follows_the_contract(name):
    task = Task(name, "dense")
    q, dq, cube, goal = ROBOT.home, VALUES, np.array([0.5, 0.1, 0.02]), np.array([0.6, 0.0, 0.2])
    obs = observe(task, q, dq, cube, goal)
    assert obs.shape == (task.contract.observation_size,)
    expected = {"position": q, "velocity": dq, "end_effector_position": end_effector_position(q), "goal": goal}
    if task.has_cube:
        expected["cube_position"] = cube
    for group, values in expected.items():
        np.testing.assert_allclose(obs[task.contract.slice_of(group)], values, atol=1e-6)
