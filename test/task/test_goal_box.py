"""Where goals lie, and what a preset's workspace leaves of them."""

import dataclasses

import numpy as np
import pytest

from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import FAMILIES, TASKS, Task

REACH, PUSH = Task("reach", "dense"), Task("push", "dense")


def preset(low, high):
    return dataclasses.replace(
        load_robot("panda"), name="mine", workspace_low=np.array(low), workspace_high=np.array(high)
    )


@pytest.mark.parametrize("robot", FAMILIES)
@pytest.mark.parametrize("task", TASKS)
def test_a_shipped_preset_reaches_every_goal(task, robot):
    assert Task(task, "dense").excluded_goals(load_robot(robot)) == ""


def test_a_smaller_workspace_is_said_with_its_share_of_the_goals():
    said = REACH.excluded_goals(preset([0.2, -0.5, 0.1], [0.6, 0.5, 0.8]))
    assert "the goals of reach lie in x 0.45 to 0.75, y -0.15 to 0.15, z 0 to 0.3 m" in said
    assert "the workspace of robot mine leaves out 67% of it" in said  # half of x, a third of z
    assert "leaves out 50% of it" in PUSH.excluded_goals(preset([0.2, -0.5, 0.0], [0.6, 0.5, 0.8]))


@pytest.mark.parametrize(("task", "low"), [(REACH, [0.8, -0.5, 0.0]), (PUSH, [0.2, -0.5, 0.03])])
def test_a_workspace_without_any_goal_is_said(task, low):
    assert "all of it: no goal can be reached" in task.excluded_goals(preset(low, [0.85, 0.5, 0.8]))
