"""The collector on a simulated arm, without ROS: whole episodes, or none."""

import numpy as np
import pytest

from ompo_ros.control.collector import Collector, CollectorPhase
from ompo_ros.control.safety import ArmState
from ompo_ros.sim.distributions import Constant
from ompo_ros.sim.domain import Domain, Drawn
from ompo_ros.sim.stand_in import make_stand_in
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import EPISODE_STEPS, SUCCESS_DISTANCE, Task
from ompo_ros.task.teacher import NoScript, push_actions
from ompo_ros.transitions import Origin

ROBOT = load_robot("panda")
REACH = Task("reach", "dense")


class Still:
    """A policy that proposes not to move."""

    def __init__(self, version=3):
        self.version = version

    def act(self, obs):
        return np.zeros(7, dtype=np.float32)

    def sample(self, obs, rng):
        return np.full(7, 0.1, dtype=np.float32)


class Random(Still):
    """A policy that knows nothing yet."""

    def sample(self, obs, rng):
        return rng.uniform(-1.0, 1.0, 7).astype(np.float32)


class Rig:
    """Arm and collector in lockstep; `corrupt` may replace the state at a tick."""

    def __init__(self, task=REACH, domain="nominal", **options):
        self.arm = make_stand_in("mujoco", domain, task, ROBOT, seed=1, command_timeout=0.5)
        self.collector = Collector(ROBOT, task, **options)
        self.collector.player.policy, self.collector.enabled = Random(version=1), True
        self.finished = []
        self.sent = []
        self.observed = []
        self.problems = set()

    def run(self, ticks, corrupt=None, cube=True, fault=""):
        for _ in range(ticks):
            measured, now = self.arm.measured, self.arm.time
            state = ArmState(measured.position, measured.velocity, now)
            if corrupt:
                state = corrupt(state)
            seen = cube if isinstance(cube, np.ndarray) else measured.cube if cube else None
            tick = self.collector.tick(state, seen, now, fault)
            if self.collector.phase is CollectorPhase.RUNNING:
                self.observed.append(measured.position)
            self.problems.add(self.collector.problem)
            if tick.finished:
                self.finished.append(tick.finished)
            if tick.command is not None:
                self.sent.append(tick.command.position)
                self.arm.command(tick.command.position)
            self.arm.advance(ROBOT.period)

    def run_until(self, condition, limit=3000):
        for _ in range(limit):
            if condition():
                return
            self.run(1)
        raise AssertionError(f"stuck in {self.collector.phase}: {self.collector.problem}")


def test_episodes_are_whole_linked_and_truncated_by_time_alone():
    rig = Rig()
    rig.run_until(lambda: len(rig.finished) == 3)
    for episode in rig.finished:
        t = episode.transitions
        assert len(t) == episode.steps == EPISODE_STEPS
        np.testing.assert_array_equal(t.next_obs[:-1], t.obs[1:])
        np.testing.assert_array_equal(t.step, np.arange(EPISODE_STEPS))
        assert not t.terminated.any()
        assert t.truncated.tolist() == [False] * (EPISODE_STEPS - 1) + [True]
        np.testing.assert_array_equal(t.reward, REACH.rewards(t.next_obs))
        assert episode.episode_return == pytest.approx(t.reward.sum(), rel=1e-5)
        assert (np.abs(t.action) <= 1.0).all()
        assert {row.tobytes() for row in t.command} <= {np.float32(sent).tobytes() for sent in rig.sent}
        assert np.abs(t.command - t.obs[:, :7]).max() <= ROBOT.max_lead
        assert np.abs(t.obs[0, :7] - ROBOT.home).max() < 0.06
        goals = t.obs[:, REACH.contract.slice_of("goal")]
        assert (goals == goals[0]).all()
    first, second = (episode.transitions.obs[0, REACH.contract.slice_of("goal")] for episode in rig.finished[:2])
    assert not np.array_equal(first, second)
    assert rig.collector.player.target_steps == 3 * EPISODE_STEPS


def test_a_tick_too_early_for_a_command_repeats_the_last_one_in_the_record():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 10)
    early = rig.arm.time - 0.4 * ROBOT.period
    measured = rig.arm.measured
    assert rig.collector.tick(ArmState(measured.position, measured.velocity, early), None, early).command is None
    rig.run_until(lambda: rig.finished)
    (episode,) = rig.finished
    assert len(episode.transitions) == EPISODE_STEPS
    repeated = (np.diff(episode.transitions.command, axis=0) == 0.0).all(axis=1)
    assert repeated.sum() == 1


def test_a_command_that_was_not_sent_is_not_in_the_record():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 10)
    rig.collector.motion.withdraw()
    kept = rig.collector.motion.filter.commanded(rig.arm.measured)
    rig.run_until(lambda: rig.finished)
    commands = rig.finished[0].transitions.command
    np.testing.assert_array_equal(commands[9], kept.astype(np.float32))
    np.testing.assert_array_equal(commands[8], commands[9])


def test_an_arm_whose_last_state_is_of_a_later_clock_brakes():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 10)
    last = rig.arm.measured
    state = ArmState(last.position, last.velocity, rig.arm.time)
    begun = state.time - 30.0
    sent = [rig.collector.tick(state, None, begun + tick * ROBOT.period).command for tick in range(50)]
    assert rig.collector.problem == "no joint state since the clock was set back"
    assert not any(sent[25:])


def test_an_observation_is_the_one_after_the_command_took_effect():
    """An arm that is pushed at full action for one step has moved in that step's next observation."""
    rig = Rig()

    class Push(Still):
        def sample(self, obs, rng):
            return np.ones(7, dtype=np.float32)

    rig.collector.player.policy = Push()
    rig.run_until(lambda: rig.finished)
    t = rig.finished[0].transitions
    np.testing.assert_allclose(t.obs[:, :7], np.array(rig.observed), atol=1e-6)
    assert (t.next_obs[2, :7] > t.obs[2, :7] + 0.005).all()
    hand = t.obs[:, REACH.contract.slice_of("end_effector_position")]
    np.testing.assert_allclose(hand, end_effector_position(t.obs[:, :7].astype(np.float64)), atol=1e-5)


def test_it_starts_disabled_and_without_a_policy_it_never_moves():
    rig = Rig()
    rig.collector.enabled = False
    rig.run(50)
    rig.collector.enabled, rig.collector.player.policy = True, None
    rig.run(50)
    assert not rig.sent
    assert "policy/latest" in rig.collector.problem
    rig.collector.player.policy = Still()
    rig.run_until(lambda: rig.finished)
    assert not Collector(ROBOT, REACH).enabled


def test_same_seed_same_experience():
    batches = []
    for _ in range(2):
        rig = Rig(domain="hidden", seed=7)
        rig.run_until(lambda rig=rig: len(rig.finished) == 2)
        batches.append(rig.finished[1].transitions)
    np.testing.assert_array_equal(batches[0].obs, batches[1].obs)
    np.testing.assert_array_equal(batches[0].action, batches[1].action)


def test_the_version_of_the_policy_that_chose_is_kept_with_each_action():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 20)
    rig.collector.player.policy = Still(version=5)
    rig.run_until(lambda: rig.finished)
    assert rig.finished[0].transitions.policy_version.tolist() == [1] * 20 + [5] * 30
    assert rig.finished[0].policy_version == 5


BREAKS = {
    "stale": lambda state: ArmState(state.position, state.velocity, state.time - 1.0),
    "not finite": lambda state: ArmState(state.position * np.nan, state.velocity, state.time),
    "jump": lambda state: ArmState(state.position + 2.0, state.velocity, state.time),
    "no arm's velocity": lambda state: ArmState(state.position, state.velocity + 1e20, state.time),
    "none": lambda _: None,
}


@pytest.mark.parametrize("corrupt", BREAKS.values(), ids=BREAKS)
def test_a_broken_episode_is_dropped_whole_and_the_next_is_played(corrupt):
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 30)
    rig.run(30, corrupt)
    assert rig.problems - {""}
    assert [episode.transitions for episode in rig.finished] == [None]
    rig.run_until(lambda: len(rig.finished) == 2)
    assert len(rig.finished[1].transitions) == EPISODE_STEPS
    assert rig.collector.player.target_steps == EPISODE_STEPS
    assert not rig.collector.problem


def test_a_fault_of_the_messages_holds_and_names_itself():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 10)
    rig.run(20, fault="joint_states lack panda_joint7")
    assert rig.collector.phase is CollectorPhase.WAITING
    assert "panda_joint7" in rig.collector.problem
    before = len(rig.sent)
    rig.run(20, fault="joint_states lack panda_joint7")
    assert len(rig.sent) == before


def test_an_arm_that_is_jammed_is_held_until_somebody_enables_it_again():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 30)
    jammed = rig.arm.measured.position

    def stuck(state):
        return ArmState(jammed, np.zeros(7), state.time)

    rig.run(2500, stuck)
    assert rig.collector.phase is CollectorPhase.HELD
    assert "run `ompo enable --node target_collector`" in rig.collector.problem
    before = len(rig.sent)
    rig.run(100, stuck)
    rig.run(100)
    assert len(rig.sent) == before
    rig.collector.enabled = True
    rig.run_until(lambda: any(episode.transitions is not None for episode in rig.finished))


def pushed_away(began):
    """Somebody pushes the first joint away and lets it go, within a second."""

    def pushed(state):
        elapsed = state.time - began
        slip = np.array([-2.0, *np.zeros(6)]) * max(min(elapsed, 0.8 - elapsed), 0.0)
        return ArmState(state.position + slip, state.velocity, state.time)

    return pushed


def test_an_arm_that_is_pushed_away_once_plays_on():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 30)
    rig.run(30, pushed_away(rig.arm.time))
    assert "stopped: arm does not follow" in rig.problems
    assert [episode.transitions for episode in rig.finished] == [None]
    rig.run_until(lambda: len(rig.finished) == 2)
    assert len(rig.finished[1].transitions) == EPISODE_STEPS


def test_an_arm_that_stands_beside_its_commands_for_good_is_held():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 30)
    began = rig.arm.time

    def sagging(state):
        sag = np.array([0.0, min(state.time - began, 0.4), *np.zeros(5)])
        return ArmState(state.position + sag, state.velocity, state.time)

    rig.run(1500, sagging)
    assert rig.collector.phase is CollectorPhase.HELD
    assert "stopped 5 times in a row: arm does not follow" in rig.collector.problem


def test_a_policy_that_is_stopped_in_an_evaluation_has_failed_there():
    rig = Rig()
    evaluation = rig.collector.player.evaluate(Still(), 2)
    rig.run_until(lambda: len(rig.observed) == 30)
    rig.run(30, pushed_away(rig.arm.time))
    (stopped,) = evaluation.played
    assert stopped.steps < EPISODE_STEPS
    assert stopped.episode_return < -EPISODE_STEPS * SUCCESS_DISTANCE  # that of all steps, far from the goal
    assert (stopped.success, stopped.completed, stopped.stopped, evaluation.dropped) == (False, False, True, 0)
    rig.run_until(lambda: evaluation.done)
    assert len(evaluation.played) == 2
    assert evaluation.played[1].completed


class Eager(Still):
    """A policy that pushes."""

    def act(self, obs):
        return np.ones(7, dtype=np.float32)


def test_a_stop_button_at_home_fails_no_policy():
    rig = Rig()
    evaluation = rig.collector.player.evaluate(Eager(), 2)
    rig.run_until(lambda: rig.observed)
    (at_home,) = rig.observed
    rig.run(2500, lambda state: ArmState(at_home, np.zeros(7), state.time))
    assert rig.collector.phase is CollectorPhase.HELD
    assert (evaluation.played, evaluation.dropped) == ([], 5)
    assert not any(episode.stopped for episode in rig.finished)


def test_a_stop_button_within_a_motion_costs_an_evaluation_one_episode():
    rig = Rig()
    evaluation = rig.collector.player.evaluate(Eager(), 2)
    rig.run_until(lambda: len(rig.observed) == 20)
    on_the_way = rig.arm.measured.position
    rig.run(2500, lambda state: ArmState(on_the_way, np.zeros(7), state.time))
    assert rig.collector.phase is CollectorPhase.HELD
    assert [episode.stopped for episode in evaluation.played] == [True]


def test_a_pause_within_an_episode_breaks_it():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 10)
    rig.arm.advance(0.2)
    rig.run(1)
    assert [episode.transitions for episode in rig.finished] == [None]


def test_disabled_the_arm_brakes_and_then_nothing_is_sent():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 25)
    rig.collector.enabled = False
    rig.run(30)
    assert [episode.transitions for episode in rig.finished] == [None]
    before = len(rig.sent)
    rig.run(50)
    assert len(rig.sent) == before
    rig.collector.enabled = True
    rig.run_until(lambda: len(rig.finished) == 2)
    assert rig.finished[1].transitions is not None


def test_an_arm_that_has_to_wait_for_its_learner_waits_at_home_and_still_evaluates():
    rig = Rig()
    rig.collector.player.may_explore = False
    rig.run(200)
    assert rig.finished == []
    assert np.abs(rig.arm.measured.position - ROBOT.home).max() < 0.05
    evaluation = rig.collector.player.evaluate(Still(), 1)
    rig.run_until(lambda: evaluation.done)
    rig.collector.player.may_explore = True
    rig.run_until(lambda: len(rig.finished) == 2)
    assert [episode.deterministic for episode in rig.finished] == [True, False]


def test_exploration_ends_at_its_count_but_evaluation_still_works():
    rig = Rig(max_steps=100)
    rig.run_until(lambda: rig.collector.player.exploration_done)
    rig.run(300)
    assert len(rig.finished) == 2
    evaluation = rig.collector.player.evaluate(Still(), 2)
    rig.run_until(lambda: evaluation.done)
    assert rig.collector.player.target_steps == 100


def test_the_script_plays_first_and_its_steps_are_no_exploration():
    rig = Rig(Task("push", "dense"), scripted=2, max_steps=100, cube_rest_time=0.0)
    player = rig.collector.player
    evaluation = player.evaluate(Still(version=9), 1)
    rig.run_until(lambda: player.exploration_done)
    origins = [(episode.origin, episode.transitions.origin) for episode in rig.finished]
    assert origins == [(origin, origin) for origin in (Origin.TARGET, *[Origin.DEMONSTRATION] * 2, Origin.TARGET)]
    assert evaluation.played == rig.finished[:1]
    for episode in rig.finished[1:3]:
        shown = episode.transitions
        np.testing.assert_array_equal(shown.action, push_actions(shown.obs))
        assert set(shown.policy_version) == {0}
        assert episode.success
        assert np.abs(shown.command - shown.obs[:, :7]).max() <= ROBOT.max_lead
    assert (player.demonstration_steps, player.target_steps) == (200, 100)


def test_a_script_that_fails_shows_nothing_and_is_not_tried_for_ever():
    rig = Rig(Task("push", "dense"), scripted=2, max_steps=100, cube_rest_time=0.0, seed=3)
    player, stuck = rig.collector.player, np.array([0.74, 0.14, 0.02])
    while not player.exploration_done:
        rig.run(1, cube=stuck)
    *shown, explored = rig.finished
    assert [(episode.origin, episode.success, episode.transitions) for episode in shown] == [
        (Origin.DEMONSTRATION, False, None)
    ] * 4
    assert (explored.origin, explored.transitions is None) == (Origin.TARGET, False)
    assert (player.demonstration_steps, player.target_steps) == (0, 100)


def test_a_script_that_was_interrupted_plays_its_episode_again():
    rig = Rig(Task("push", "dense"), scripted=1, cube_rest_time=0.0)
    rig.run_until(lambda: len(rig.observed) == 10)
    rig.run(1, fault="the driver is gone")
    rig.run_until(lambda: len(rig.finished) == 2)
    assert [(episode.origin, episode.completed) for episode in rig.finished] == [
        (Origin.DEMONSTRATION, False),
        (Origin.DEMONSTRATION, True),
    ]


def test_a_task_without_a_script_cannot_be_demonstrated_by_one():
    with pytest.raises(NoScript, match="no script demonstrates reach, only push"):
        Collector(ROBOT, REACH, scripted=1)


def test_an_evaluation_is_deterministic_counts_apart_and_meets_the_same_goals():
    rig = Rig()
    rig.run_until(lambda: len(rig.observed) == 10)
    goals = []
    for _ in range(2):
        steps = rig.collector.player.target_steps
        evaluation = rig.collector.player.evaluate(Still(version=9), 2)
        rig.run_until(lambda evaluation=evaluation: evaluation.done)
        rig.collector.player.stop_evaluation()
        assert all(episode.deterministic and episode.policy_version == 9 for episode in evaluation.played)
        assert all((episode.transitions.action == 0.0).all() for episode in evaluation.played)
        goals.append([episode.transitions.obs[0, REACH.contract.slice_of("goal")] for episode in evaluation.played])
        assert (
            rig.collector.player.target_steps - steps <= EPISODE_STEPS
        )  # the episode that was running is played to its end
    np.testing.assert_array_equal(goals[0], goals[1])
    rig.run_until(lambda: not rig.finished[-1].deterministic)


def test_an_evaluation_stopped_half_way_leaves_no_episode_behind():
    rig = Rig()
    rig.collector.player.evaluate(Still(), 5)
    rig.run_until(lambda: len(rig.observed) == 10)
    rig.collector.player.stop_evaluation()
    rig.run_until(lambda: len(rig.finished) == 2)
    assert rig.finished[0].transitions is None
    assert not rig.finished[1].deterministic


def test_an_arm_that_rests_beside_home_is_not_taken_for_a_blocked_one():
    biased = {"action_bias": Drawn(Constant((0.0, 0.0, 0.0, 0.0, 0.98, 0.0, 0.0)))}
    rig = Rig(task=Task("push", "dense"), domain=Domain("biased", biased), cube_rest_time=0.0)
    rig.collector.player.may_explore = False
    rig.run(100)  # at home, before the first episode
    rig.collector.player.may_explore = True
    rig.run_until(lambda: len(rig.finished) == 2)
    assert rig.problems == {""}
    assert rig.arm.episode == 1  # the cube was put back in between


class Wanderer:
    """Drives the arm off in a direction of its own each episode, as a policy that knows nothing does."""

    version = 1

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.turn()

    def turn(self) -> None:
        self._direction = self._rng.uniform(-1.0, 1.0, 7)

    def sample(self, obs, rng):
        return np.clip(self._direction + 0.3 * rng.standard_normal(7), -1.0, 1.0).astype(np.float32)


@pytest.mark.parametrize(
    ("simulator", "domain", "seed"),
    [("mujoco", "hidden", 0), ("mujoco", "hidden", 2), ("mujoco", "hidden", 3), ("panda_gym", "creeping", 5)],
)
def test_from_wherever_an_episode_leaves_a_biased_arm_it_finds_home(simulator, domain, seed):
    if simulator == "panda_gym":
        pytest.importorskip("panda_gym", reason="PyBullet has no wheel for this Python")
    robot, task = load_robot("panda"), Task("reach", "dense")
    arm = make_stand_in(simulator, domain, task, robot, seed=seed, command_timeout=0.5)
    collector = Collector(robot, task, seed=seed)
    collector.player.policy, collector.enabled = Wanderer(seed), True
    episodes = 0
    for _ in range(2400):
        measured = arm.measured
        tick = collector.tick(ArmState(measured.position, measured.velocity, arm.time), None, arm.time)
        if tick.command is not None:
            arm.command(tick.command.position)
        arm.advance(robot.period)
        if tick.finished is not None:
            episodes += tick.finished.transitions is not None
            collector.player.policy.turn()
    assert episodes >= 8
