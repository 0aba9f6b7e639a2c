"""What is drawn is what is meant: real scenes of viser, looked at from the server's side."""

import math
import re

import numpy as np
import pytest
import viser
from viser.transforms import SE3, SO3

from ompo_ros.monitor.run_state import Belief, Line, PolicyRow
from ompo_ros.monitor.scene import ArmScene, clicked_goal
from ompo_ros.monitor.tables import belief_table, lines_table, policies_table
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

ROBOT, TASK = load_robot("panda"), Task("reach", "dense")
BETWEEN_FINGERTIPS = np.array([0.0, 0.0, 0.105])  # in the hand's frame


@pytest.fixture(scope="module")
def server():
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield server
    server.stop()


@pytest.fixture
def scene(server):
    return ArmScene(server.scene, ROBOT, TASK)


def hand(server, root):
    """Where the drawn hand is, by the frames that a browser multiplies."""
    handles = server.scene._handle_from_node_name
    pose, path = SE3.identity(), root
    names = ["link0", *(f"link{i}" for i in range(1, 8)), "hand"]
    for name in ["", *names]:
        path = f"{path}/{name}" if name else path
        frame = handles[path]
        pose = pose @ SE3.from_rotation_and_translation(SO3(np.array(frame.wxyz)).normalize(), np.array(frame.position))
    return pose @ BETWEEN_FINGERTIPS


def test_the_drawn_hand_is_where_kinematics_say(server, scene):
    rng = np.random.default_rng(0)
    for _ in range(20):
        measured, commanded = rng.uniform(ROBOT.position_low, ROBOT.position_high, (2, 7))
        scene.show_arm(measured, commanded)
        assert hand(server, "/measured") == pytest.approx(end_effector_position(measured), abs=1e-6)
        assert hand(server, "/commanded") == pytest.approx(end_effector_position(commanded), abs=1e-6)


def test_the_ghost_shows_only_where_the_arm_is_not(server, scene):
    ghost = server.scene._handle_from_node_name["/commanded"]
    scene.show_arm(ROBOT.home, ROBOT.home + 0.1)
    assert ghost.visible
    scene.show_arm(ROBOT.home, ROBOT.home + 0.001)
    assert not ghost.visible
    scene.show_arm(ROBOT.home, None)
    assert not ghost.visible


def test_the_trace_follows_the_hand(server, scene):
    trace = server.scene._handle_from_node_name["/trace"]
    for angle in np.linspace(0.0, 0.5, 200):
        posture = ROBOT.home + angle * np.eye(7)[0]
        scene.show_arm(posture, None)
    assert trace.points[-1, 1] == pytest.approx(end_effector_position(posture), abs=3e-3)
    assert np.array_equal(trace.points[1:, 0], trace.points[:-1, 1])
    assert np.isfinite(trace.points).all()


def test_a_click_becomes_a_goal_that_the_task_allows():
    goal = clicked_goal((0.6, 0.0, 2.0), (0.0, 0.0, -1.0), 0.1, TASK.goal_box)
    assert goal == pytest.approx((0.6, 0.0, 0.1))
    low, high = TASK.goal_box
    far = np.array(clicked_goal((0.6, 0.0, 2.0), (0.9, 0.1, -0.1), 0.1, TASK.goal_box))
    assert ((low <= far) & (far <= high)).all()
    assert clicked_goal((0.6, 0.0, 2.0), (0.0, 0.0, 1.0), 0.1, TASK.goal_box) is None, "a click into the sky"
    assert clicked_goal((0.6, 0.0, 2.0), (1.0, 0.0, 0.0), 0.1, TASK.goal_box) is None


def test_what_others_wrote_is_shown_and_never_run():
    evil = "<img src=x onerror=alert(1)>"
    row = PolicyRow(3, ("stable", evil), True, float("nan"), 0, evil)
    shown = policies_table([row], 3) + lines_table([Line("12:00:00", evil, evil, False)], "")
    shown += belief_table(Belief((evil,), (1.0,), (0.1,), 0, 0.1, 0.2, 5), {}, {evil: (evil,)})
    assert "<img" not in shown
    assert "&lt;img" in shown


def test_policies_in_use_are_listed_however_old():
    rows = [PolicyRow(i, ("stable",) if i == 1 else (), False, 0.5, 20, "") for i in range(1, 41)]
    table = policies_table(rows, running=40)
    assert table.count("<tr><td") == 11
    assert '1 <b class="stable">' in table
    assert "40 ▶" in table


def cells(table):
    """The texts of a table's rows, and of what is below it."""
    rows, below = table.split("</table>")
    plain = [[re.sub("<[^>]*>", "", cell) for cell in row.split("</td>")[:-1]] for row in rows.split("<tr>")]
    return [row for row in plain if row], re.sub("<[^>]*>", "", below)


BELIEF = Belief(
    ("payload_mass", "action_gain.1", "action_gain.2"), (0.9, 1.2, 0.8), (0.1,) * 3, 1, math.nan, math.nan, 150
)


def test_the_truth_of_a_stand_in_stands_below_what_was_identified():
    truth = {"payload_mass": ("1.00",), "action_gain": ("0.5 to 1.5",), "command_delay": ("1.00",)}
    rows, below = cells(belief_table(BELIEF, {}, truth))
    assert rows == [
        ["payload mass", "0.90"],
        ["truth", "1.00"],
        ["action gain", "1.20", "0.80"],
        ["truth", "0.5 to 1.5", "0.5 to 1.5"],
    ]
    assert "1 steps (truth 1.00)" in below


def test_of_a_real_arm_nobody_knows_the_truth_and_of_a_kept_belief_the_error():
    rows, below = cells(belief_table(BELIEF, {}, {}))
    assert [row[0] for row in rows] == ["payload mass", "action gain"]
    assert "truth" not in below
    assert "nan" not in below
