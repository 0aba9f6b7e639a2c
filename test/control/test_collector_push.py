"""The collector in push: what it does about the cube, and about whoever may have it in hand."""

import numpy as np
from test_collector import ROBOT, Rig, Still

from ompo_ros.control.collector import CollectorPhase
from ompo_ros.control.safety import ArmState
from ompo_ros.sim.distributions import Constant
from ompo_ros.sim.domain import Domain, Drawn
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.tasks import Task
from ompo_ros.task.teacher import push_actions


def test_push_waits_for_the_cube_and_for_hands_to_get_away_from_it():
    rig = Rig(task=Task("push", "dense"))
    rig.run(5, cube=False)
    assert "cube" in rig.collector.problem
    rig.run(70)
    assert "keep away" in rig.collector.problem
    assert not rig.sent
    rig.run_until(lambda: rig.observed)
    rig.run(5, cube=False)
    rig.run(10)  # brakes
    before = len(rig.sent)
    rig.run(60)
    assert len(rig.sent) == before  # it does not even go home
    rig.run_until(lambda: len(rig.finished) == 2)
    assert [episode.transitions is None for episode in rig.finished] == [True, False]
    cube = rig.finished[1].transitions.obs[0, rig.collector.motion.task.contract.slice_of("cube_position")]
    assert 0.4 < cube[0] < 0.8


def test_push_waits_for_a_person_when_the_cube_is_out_of_its_place():
    rig = Rig(task=Task("push", "dense"), cube_rest_time=0.0)
    lost = rig.arm.measured.cube + np.array([0.5, 0.0, 0.0])
    for _ in range(200):
        state = ArmState(rig.arm.measured.position, rig.arm.measured.velocity, rig.arm.time)
        assert rig.collector.tick(state, lost, rig.arm.time).finished is None
        rig.arm.advance(ROBOT.period)
    assert "put the cube back" in rig.collector.problem
    assert rig.collector.phase is CollectorPhase.WAITING
    rig.run_until(lambda: rig.finished)


def test_a_cube_that_is_lost_ends_the_episode_and_is_asked_for_at_home():
    rig = Rig(task=Task("push", "dense"))
    rig.run_until(lambda: len(rig.observed) == 30)
    fallen = np.array([0.6, 0.0, -0.7])
    rig.run(30, cube=fallen)
    assert [episode.completed for episode in rig.finished] == [False]
    before = len(rig.sent)
    rig.run(30, cube=fallen)
    assert len(rig.sent) == before, "the arm moves while somebody fetches the cube"
    assert "keep away" in rig.collector.problem
    rig.run(300, cube=fallen)
    assert "put the cube back" in rig.collector.problem
    assert np.abs(rig.arm.measured.position - ROBOT.home).max() < 0.06
    rig.run_until(lambda: len(rig.finished) == 2)
    assert rig.finished[1].completed


def test_a_policy_that_loses_the_cube_has_failed_in_its_evaluation():
    rig = Rig(task=Task("push", "dense"), cube_rest_time=0.0)
    turning = Still()
    turning.act = lambda obs: np.array([0.2, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    evaluation = rig.collector.player.evaluate(turning, 1)
    rig.run_until(lambda: len(rig.observed) == 30)
    rig.run(1, cube=np.array([1.2, 0.0, 0.02]))
    assert [(episode.success, episode.stopped) for episode in evaluation.played] == [(False, True)]


class Pusher(Still):
    """Pushes by the script."""

    def sample(self, obs, rng):
        return push_actions(obs[None])[0]


def test_after_a_push_the_hand_rises_straight_and_leaves_the_cube_where_it_is():
    rig = Rig(task=Task("push", "dense"), cube_rest_time=0.0)
    rig.collector.player.policy = Pusher()
    for episode in range(4):
        rig.run_until(lambda before=episode: len(rig.finished) > before)
        cube, number = rig.arm.measured.cube, rig.arm.episode
        assert rig.finished[-1].success  # the safety filter lets the hand move along the table
        begun = end_effector_position(rig.arm.measured.position)
        while rig.arm.episode == number and rig.collector.phase is CollectorPhase.HOMING:
            hand = end_effector_position(rig.arm.measured.position)
            assert hand[2] > 0.08 or np.abs(hand - begun)[:2].max() < 0.02
            np.testing.assert_allclose(rig.arm.measured.cube, cube, atol=0.01)
            rig.run(1)


def test_a_heavy_cube_is_no_obstacle():
    """3 kg at a friction of 1 are the heaviest push of the benchmark."""
    heavy = {"cube_mass": Drawn(Constant(3.0)), "contact_friction": Drawn(Constant(1.0))}
    rig = Rig(task=Task("push", "dense"), domain=Domain("heavy", heavy), cube_rest_time=0.0)
    rig.collector.player.policy = Pusher()
    rig.run_until(lambda: len(rig.finished) == 4)
    assert rig.problems == {""}
    assert sum(episode.success for episode in rig.finished) >= 3
