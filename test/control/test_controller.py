"""The policy controller on a simulated arm, without ROS: silent until enabled, no jump at a swap, never on bad data."""

import re

import numpy as np
import pytest

from ompo_ros.control.attempts import check_goal
from ompo_ros.control.controller import Controller, ControllerPhase
from ompo_ros.control.safety import ArmState
from ompo_ros.sim.distributions import Constant as Values
from ompo_ros.sim.domain import Domain, Drawn
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import EPISODE_STEPS, INCREMENT, SUCCESS_DISTANCE, Task

ROBOT = load_robot("panda")
REACH = Task("reach", "dense")
GOAL = np.array([0.6, 0.0, 0.2])
AWAY = np.array([0.5, -0.5, 0.4, 0.3, -0.6, 0.5, 0.7])  # an action that moves every joint


class Constant:
    """A policy that always proposes the same."""

    rest_action = np.zeros(7, dtype=np.float32)

    def __init__(self, action, version=1):
        self._action = np.asarray(action, dtype=np.float32)
        self.version = version
        self.sha256 = f"{version:064x}"

    def act(self, obs):
        return self._action


class Rig:
    """A controller and an arm, one control period at a time; commands (7,) or None are kept by tick."""

    def __init__(self, policy=None, task=REACH, enabled=True, domain="nominal", **options):
        self.arm = make_stand_in("mujoco", domain, task, ROBOT, seed=1, command_timeout=0.5)
        self.policy = policy
        goal = task.goals(np.full((1, 3), 0.5))[0]
        self.controller = Controller(ROBOT, task, lambda: self.policy, goal=goal, **options)
        self.controller.enabled = enabled
        self.commands = []
        self.finished = []

    def run(self, ticks, corrupt=None, fault="", cube=None):
        for _ in range(ticks):
            measured, now = self.arm.measured, self.arm.time
            state = ArmState(measured.position, measured.velocity, now)
            seen = measured.cube if cube is None else cube
            tick = self.controller.tick(corrupt(state) if corrupt else state, seen, now, fault)
            if tick.command is not None:
                self.arm.command(tick.command.position)
            if tick.finished is not None:
                self.finished.append(tick.finished)
            self.commands.append(None if tick.command is None else tick.command.position)
            self.arm.advance(ROBOT.period)

    def speeds(self, last):
        return np.diff(np.stack(self.commands[-last:]), axis=0) / ROBOT.period


def is_braked(rig):
    """Whether commands ended in one at rest, and silence after it."""
    sent = [command for command in rig.commands if command is not None]
    return rig.commands[-1] is None and np.abs(sent[-1] - sent[-2]).max() < 1e-9


def test_nothing_is_sent_before_it_is_enabled():
    rig = Rig(Constant(AWAY), enabled=False)
    rig.run(50)
    assert set(rig.commands) == {None}
    assert (rig.controller.phase, rig.controller.problem) == (ControllerPhase.DISABLED, "")
    rig.controller.enabled = True
    rig.run(10)
    assert rig.controller.phase is ControllerPhase.RUNNING
    assert all(command is not None for command in rig.commands[-10:])


def test_the_first_motion_is_gentle():
    rig = Rig(Constant(AWAY), blend_time=0.4)
    start = rig.arm.measured.position
    rig.run(1)
    assert np.abs(rig.commands[0] - start).max() < 1e-3
    rig.run(9)
    growing = np.abs(np.stack(rig.commands) - start).max(axis=1)
    assert (np.diff(growing) > 0.0).all()


def test_disabled_it_brakes_within_the_limits_to_rest_and_is_silent():
    rig = Rig(Constant(AWAY))
    rig.run(20)
    rig.controller.enabled = False
    rig.run(30)
    assert is_braked(rig)
    moving = [command for command in rig.commands if command is not None]
    change = np.diff(np.diff(np.stack(moving), axis=0), axis=0) / ROBOT.period**2
    assert (np.abs(change) <= ROBOT.acceleration * (1.0 + 1e-6)).all()
    assert np.abs(rig.arm.measured.velocity).max() < 0.05


def test_it_starts_from_where_others_moved_the_arm_while_it_stood():
    rig = Rig(Constant(AWAY))
    rig.run(10)
    rig.controller.enabled = False
    rig.run(20)
    moved = rig.arm.measured.position - 0.15
    for _ in range(100):
        rig.arm.command(moved)
        rig.arm.advance(ROBOT.period)
    rig.controller.enabled = True
    before = rig.arm.measured.position
    rig.run(1)
    assert np.abs(rig.commands[-1] - before).max() < 1e-3


def test_without_a_policy_it_waits_and_says_so():
    rig = Rig(None)
    rig.run(5)
    assert set(rig.commands) == {None}
    assert (rig.controller.phase, "policy" in rig.controller.problem) == (ControllerPhase.NO_POLICY, True)
    rig.policy = Constant(AWAY)
    rig.run(5)
    assert rig.controller.phase is ControllerPhase.RUNNING


def swapped(*policies, blend_time=0.4, every=5):
    """A rig that moved by the first policy, then met the others, some ticks each."""
    rig = Rig(Constant(AWAY), blend_time=blend_time)
    rig.run(15)
    for version, action in enumerate(policies, 2):
        rig.policy = Constant(action, version)
        rig.run(every)
    return rig


def test_a_swap_goes_on_from_the_last_command_and_takes_its_time():
    unswapped, rig, abrupt = swapped(AWAY), swapped(-AWAY, every=20), swapped(-AWAY, every=20, blend_time=0.0)
    np.testing.assert_allclose(rig.commands[15], unswapped.commands[15], atol=1e-9)  # the swap's own tick
    gentle, hard = (np.abs(np.diff(r.speeds(21), axis=0)) for r in (rig, abrupt))
    assert (gentle <= ROBOT.acceleration * ROBOT.period * (1.0 + 1e-6)).all()
    assert gentle.max() < hard.max() / 2
    assert (np.sign(rig.speeds(5)) == np.sign(-AWAY)).all()  # the new policy rules at the end
    figures = rig.controller.figures()
    assert (figures["policy_version"], figures["policy_swaps"]) == (2, 1)


def test_a_swap_within_a_swap_goes_on_from_where_the_first_had_come():
    once, twice = swapped(-AWAY, every=6), swapped(-AWAY, AWAY, every=5)
    ahead = np.abs(twice.commands[20] - once.commands[20])  # the tick of the second swap
    assert (ahead <= INCREMENT * 2.0 * np.abs(AWAY) / 10 + 1e-6).all()


BREAKS = {
    "stale": lambda state: ArmState(state.position, state.velocity, state.time - 0.15),
    "stale before the next tick": lambda state: ArmState(state.position, state.velocity, state.time - 0.07),
    "not finite": lambda state: ArmState(state.position * np.nan, state.velocity, state.time),
    "none": lambda _: None,
}


@pytest.mark.parametrize("corrupt", BREAKS.values(), ids=BREAKS)
def test_bad_states_brake_it_and_good_ones_let_it_go_on(corrupt):
    rig = Rig(Constant(AWAY))
    rig.run(15)
    rig.run(30, corrupt)
    assert rig.controller.phase is ControllerPhase.WAITING
    assert "joint state" in rig.controller.problem
    assert is_braked(rig)
    before = next(command for command in reversed(rig.commands) if command is not None)
    rig.run(1)
    assert np.abs(rig.commands[-1] - before).max() < 0.01  # from where its driver holds the arm, without a jump
    rig.run(10)
    assert (rig.controller.phase, rig.controller.problem) == (ControllerPhase.RUNNING, "")


def test_an_arm_that_presses_beyond_a_joints_limit_is_led_back_until_it_presses_no_more():
    rig = Rig(Constant(AWAY))
    rig.run(15)
    against = rig.arm.measured.position

    def pressing(state):
        sent = next(command for command in reversed(rig.commands) if command is not None)
        return ArmState(against, np.zeros(7), state.time, 2500.0 * (sent - against))

    rig.run(40, pressing)
    assert "Nm, its limit is" in rig.controller.problem
    assert rig.controller.phase is ControllerPhase.STOPPED
    assert np.abs(pressing(ArmState(against, against, 0.0)).effort).max() < 10.0
    assert rig.commands[-1] is None


def test_an_arm_at_rest_that_bears_more_than_its_limit_does_not_begin():
    rig, load = Rig(Constant(AWAY)), np.array([0.0, 40.0, 0.0, -88.0, 0.0, 0.0, 0.0])
    rig.run(30, lambda state: ArmState(state.position, state.velocity, state.time, load))
    assert "panda_joint4 bears 88 Nm, its limit is 87" in rig.controller.problem
    assert set(rig.commands) == {None}
    rig.run(10, lambda state: ArmState(state.position, state.velocity, state.time, load * 0.9))
    assert (rig.controller.phase, rig.controller.problem) == (ControllerPhase.RUNNING, "")


def test_a_fault_of_the_messages_holds_under_its_name():
    rig = Rig(Constant(AWAY))
    rig.run(5, fault="joint_states lack panda_joint7")
    assert set(rig.commands) == {None}
    assert rig.controller.problem == "joint_states lack panda_joint7"


def test_an_action_that_is_not_finite_brakes_and_stays_stopped_until_enabled_again():
    rig = Rig(Constant(AWAY))
    rig.run(15)
    rig.policy = Constant(AWAY * np.nan, version=2)
    rig.run(30)
    assert is_braked(rig)
    assert rig.controller.phase is ControllerPhase.STOPPED
    assert "policy 2" in rig.controller.problem
    rig.policy = Constant(AWAY, version=3)
    rig.run(10)
    assert rig.commands[-1] is None
    rig.controller.enabled = True
    rig.run(10)
    assert rig.controller.phase is ControllerPhase.RUNNING
    assert np.isfinite(np.stack(rig.commands[-5:])).all()


def test_an_arm_that_does_not_follow_is_left_alone_until_enabled_again():
    rig = Rig(Constant(AWAY))
    rig.run(15)
    began = rig.arm.time

    def pushed(state):
        slip = np.array([-2.0, *np.zeros(6)]) * min(state.time - began, 0.6)
        return ArmState(state.position + slip, state.velocity, state.time)

    rig.run(30, pushed)
    assert rig.controller.phase is ControllerPhase.STOPPED
    assert "does not follow" in rig.controller.problem or "blocked" in rig.controller.problem
    rig.run(10, pushed)
    assert set(rig.commands[-10:]) == {None}


def test_a_blocked_arm_is_noticed_relieved_and_left_alone_until_enabled_again():
    """Actions start where the arm is, so it never falls far behind: only its stillness shows."""
    rig = Rig(Constant(np.ones(7)))
    rig.run(15)
    blocked = rig.arm.measured.position

    def stands(state):
        return ArmState(blocked, np.zeros(7), state.time)

    rig.run(60, stands)
    assert rig.controller.phase is ControllerPhase.STOPPED
    assert "blocked or stopped?" in rig.controller.problem
    sent = [command for command in rig.commands if command is not None]
    np.testing.assert_allclose(sent[-1], blocked, atol=5e-3)  # a released stop button moves nothing
    speeds = np.diff(np.stack(sent), axis=0) / ROBOT.period
    assert (np.abs(np.diff(speeds, axis=0)) <= ROBOT.acceleration * ROBOT.period * (1.0 + 1e-6)).all()
    rig.run(50)
    assert set(rig.commands[-50:]) == {None}
    rig.controller.enabled = True
    rig.run(10)
    assert rig.controller.phase is ControllerPhase.RUNNING


def test_an_arm_that_leans_against_its_own_bias_is_not_blocked():
    rig = Rig(Constant(np.full(7, 0.85)))
    still = rig.arm.measured.position
    rig.run(100, lambda state: ArmState(still, np.zeros(7), state.time))
    assert rig.controller.phase is ControllerPhase.RUNNING


BIAS = np.array([-0.4, 0.4, 0.3, 0.6, -0.95, 0.6, 0.2])


class Compensated:
    """A policy that stays where it began, and knows the biases of its drives."""

    version, sha256 = 1, ""
    rest_action = -BIAS.astype(np.float32)

    def __init__(self):
        self._place = None

    def act(self, obs):
        self._place = obs[:7].copy() if self._place is None else self._place
        return np.clip(4.0 * (self._place - obs[:7]) - BIAS, -1.0, 1.0).astype(np.float32)


@pytest.mark.parametrize("task", ["reach", "push"])
def test_a_policy_that_holds_a_biased_arm_still_is_not_taken_for_a_blocked_one(task):
    biased = Domain("biased", {"action_bias": Drawn(Values(tuple(BIAS)))})
    rig = Rig(Compensated(), task=Task(task, "dense"), domain=biased, cube_rest_time=0.0)
    rig.run(100)
    assert (rig.controller.phase, rig.controller.problem) == (ControllerPhase.RUNNING, "")
    held = rig.arm.measured.position
    rig.run(20)
    lead = rig.commands[-1] - rig.arm.measured.position
    np.testing.assert_allclose(lead, -INCREMENT * BIAS, atol=0.005)  # it rests, and leads the arm
    np.testing.assert_allclose(rig.arm.measured.position, held, atol=1e-3)
    blocked = rig.arm.measured.position
    rig.policy = Constant(np.sign(BIAS), version=2)
    rig.run(30, lambda state: ArmState(blocked, np.zeros(7), state.time))
    assert rig.controller.phase is ControllerPhase.STOPPED, "a blocked arm went unnoticed"


def test_the_speed_scale_binds():
    rig = Rig(Constant(np.ones(7)), speed_scale=0.1)
    rig.run(40)
    assert np.abs(rig.speeds(20)).max() <= 0.1 * ROBOT.velocity.max()
    assert rig.controller.figures()["filtered: velocity limit"] > 0


def test_a_goal_is_an_attempt_that_ends_after_an_episode_and_begins_anew_after_a_swap():
    rig = Rig(Constant(np.zeros(7), version=4))
    rig.run(5)
    rig.controller.go_to(GOAL)
    rig.run(EPISODE_STEPS + 5)
    assert [(episode.steps, episode.policy_version, episode.deterministic) for episode in rig.finished] == [
        (EPISODE_STEPS, 4, True)
    ]
    assert rig.finished[0].success == (rig.controller.figures()["successes"] == 1)
    rig.controller.go_to(GOAL)
    rig.run(10)
    rig.policy = Constant(np.zeros(7), version=5)
    rig.run(EPISODE_STEPS)
    assert len(rig.finished) == 1, "an attempt of two policies counted"
    rig.run(5)
    assert (rig.finished[1].steps, rig.finished[1].policy_version) == (EPISODE_STEPS, 5)
    rig.run(EPISODE_STEPS + 5)
    assert len(rig.finished) == 2, "a goal was judged twice"


def test_a_miss_says_when_the_workspace_limit_held_the_arm_back():
    rig = Rig(Constant([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))  # leans forward, down to the table
    rig.run(2 * EPISODE_STEPS)
    rig.controller.go_to(GOAL)
    rig.run(EPISODE_STEPS + 5)
    assert re.fullmatch(r"missed: .*; the workspace limit changed \d+ commands", rig.controller.outcome)


def test_a_goal_that_comes_before_the_arm_may_move_is_judged_once_it_does():
    rig = Rig(Constant(np.zeros(7)))
    rig.controller.enabled = False
    rig.run(5)
    assert rig.controller.figures()["goal_outcome"] == "none was sent"
    rig.controller.go_to(GOAL)
    rig.run(EPISODE_STEPS + 5)
    assert (rig.finished, rig.controller.figures()["goal_outcome"]) == ([], "under way")
    rig.controller.enabled = True
    rig.run(EPISODE_STEPS + 5)
    assert len(rig.finished) == 1
    away = np.linalg.norm(end_effector_position(rig.arm.measured.position) - GOAL)
    said = re.fullmatch(rf"(reached|missed): (\d+) mm away after {EPISODE_STEPS} steps", rig.controller.outcome)
    assert (said[1] == "reached") == rig.finished[0].success == (away < SUCCESS_DISTANCE)
    assert float(said[2]) == pytest.approx(1e3 * away, abs=2.0)


@pytest.mark.parametrize(
    ("goal", "said"),
    [([0.6, 0.0], "three"), ([0.6, np.nan, 0.2], "finite"), ([0.6, 0.0, 0.9], "has goals from [0.45")],
)
def test_a_goal_that_no_policy_has_seen_is_refused(goal, said):
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        check_goal(REACH, np.array(goal))
    rig = Rig(Constant(AWAY))
    with pytest.raises(ValueError, match="goal"):
        rig.controller.go_to(np.array(goal))
    assert np.isfinite(rig.controller.goal).all()


def test_a_pushing_controller_waits_for_the_cube():
    task = Task("push", "dense")
    rig = Rig(Constant(AWAY), task=task)
    state = ArmState(rig.arm.measured.position, rig.arm.measured.velocity, 0.0)
    assert rig.controller.tick(state, None, 0.0).command is None
    assert "cube" in rig.controller.problem
    rig.run(70)
    assert "keep away" in rig.controller.problem  # whoever put it there
    assert set(rig.commands) == {None}
    rig.run(10)
    assert rig.controller.phase is ControllerPhase.RUNNING


@pytest.mark.parametrize("lost", [[1.2, 0.0, 0.02], [0.6, 0.0, -0.7]])
def test_a_cube_that_is_lost_brakes_a_pushing_controller_until_it_is_put_back(lost):
    rig = Rig(Constant(np.full(7, 0.1)), task=Task("push", "dense"))
    rig.run(80)
    assert rig.controller.phase is ControllerPhase.RUNNING
    rig.run(100, cube=np.array(lost))
    assert "put the cube back on the table, to x 0.45 to 0.75 and y -0.15 to 0.15 m" in rig.controller.problem
    assert is_braked(rig)
    back = np.array([0.6, 0.0, 0.02])
    rig.run(70, cube=back)
    assert "keep away" in rig.controller.problem
    rig.run(60, cube=back)
    assert rig.controller.phase is ControllerPhase.RUNNING
