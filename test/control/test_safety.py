"""The filter's promise: whatever comes in, what goes out is within every limit, and the hand never goes further out."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ompo_ros.control.robot import load_robot
from ompo_ros.control.safety import ArmState, Reason, SafetyFilter
from ompo_ros.domains.kinematics import end_effector_position

ROBOTS = {name: load_robot(name) for name in ("panda", "fr3")}
# A robot whose jerk limit binds before its acceleration limit.
ROBOTS["gentle"] = dataclasses.replace(ROBOTS["panda"], jerk=np.full(7, 80.0))
PERIOD = 0.04


class Watch:
    """Differentiates a commanded trajectory by itself and compares it with the limits."""

    def __init__(self, robot):
        self.robot = robot
        self.last = None
        self.velocity = self.acceleration = np.zeros(7)
        self.depth = math.inf

    def begin(self, measured):
        """The trajectory starts at rest where the arm was measured, or at the limit it was a step beyond at most."""
        self.last = np.clip(measured, self.robot.position_low + 1e-6, self.robot.position_high - 1e-6)
        assert (np.abs(self.last - measured) <= self.robot.max_step).all()
        self.depth = self._depth(self.last)

    def see(self, command, gap):
        robot = self.robot
        assert (Reason.EARLY in command.reasons) == (gap < PERIOD / 2.0)
        if Reason.EARLY in command.reasons:
            np.testing.assert_array_equal(command.position, self.last)
            return
        assert (command.position >= robot.position_low).all()
        assert (command.position <= robot.position_high).all()
        depth = self._depth(command.position)
        if gap > 0.5:  # nobody called: the arm has come to rest at the last command
            self.velocity = self.acceleration = np.zeros(7)
        velocity = (command.position - self.last) / PERIOD
        acceleration = (velocity - self.velocity) / PERIOD
        jerk = (acceleration - self.acceleration) / PERIOD
        assert (np.abs(velocity) <= robot.velocity).all()
        assert (np.abs(command.position - self.last) <= robot.max_step).all()
        assert (np.abs(acceleration) <= robot.acceleration).all()
        assert (np.abs(jerk) <= robot.jerk).all()
        assert depth <= self.depth + 1e-9
        self.velocity, self.acceleration = velocity, acceleration
        self.last, self.depth = command.position, depth

    def _depth(self, position):
        hand = end_effector_position(position)
        over = np.maximum(self.robot.workspace_low - hand, hand - self.robot.workspace_high)
        return np.maximum(over, 0.0).sum()


def run(robot, states_and_proposals, gaps, speed_scale=1.0):
    """Drive a filter and watch it; the clock may do anything."""
    safety, watch = SafetyFilter(robot, speed_scale), Watch(robot)
    now = accepted = 0.0
    for (state, proposal), gap in zip(states_and_proposals, gaps, strict=True):
        now += gap
        arm = None if state is None else ArmState(state, np.zeros(7), now)
        command = safety.filter(arm, proposal, now)
        if command is None:
            assert watch.last is None
            continue
        if watch.last is None:
            watch.begin(state)
            accepted = now - PERIOD
        watch.see(command, now - accepted)
        if Reason.EARLY not in command.reasons or now < accepted - PERIOD:
            accepted = now
    return safety, watch


NUMBERS = st.one_of(st.floats(-4.0, 4.0), st.floats(allow_nan=True, allow_infinity=True))
LIMITS = ROBOTS["panda"].position_low, ROBOTS["panda"].position_high
VECTORS = st.one_of(
    st.lists(st.floats(-0.02, 1.02), min_size=7, max_size=7).map(
        lambda shares: LIMITS[0] + np.array(shares) * (LIMITS[1] - LIMITS[0])
    ),
    st.lists(st.floats(-4.0, 4.0), min_size=7, max_size=7).map(np.array),
    st.lists(NUMBERS, min_size=7, max_size=7).map(np.array),
    st.lists(NUMBERS, max_size=9).map(np.array),
    st.none(),
)
GAPS = st.one_of(st.just(PERIOD), st.floats(-1.0, 1.0))


@pytest.mark.parametrize("name", ROBOTS)
@settings(max_examples=150)
@given(data=st.data())
def test_arbitrary_states_proposals_and_times_never_break_a_limit(name, data):
    pairs = data.draw(st.lists(st.tuples(VECTORS, VECTORS), min_size=1, max_size=25))
    gaps = data.draw(st.lists(GAPS, min_size=len(pairs), max_size=len(pairs)))
    run(ROBOTS[name], pairs, gaps)


@pytest.mark.parametrize("name", ROBOTS)
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    hold=st.integers(1, 40),
    reach=st.floats(0.05, 6.0),
    broken=st.sampled_from([0.0, 0.2]),
    scale=st.sampled_from([1.0, 0.3]),
)
def test_an_adversary_that_pushes_against_every_wall_never_gets_through(name, seed, hold, reach, broken, scale):
    """Far targets held for a while drive the arm at full speed into limits and workspace, states break at random."""
    robot, rng = ROBOTS[name], np.random.default_rng(seed)
    safety, watch = SafetyFilter(robot, scale), Watch(robot)
    start = rng.uniform(robot.position_low, robot.position_high) if seed % 2 else robot.home
    position, target = start, start
    watch.begin(start)
    for k in range(150):
        now = k * PERIOD
        if k % hold == 0:
            target = position + rng.uniform(-reach, reach, 7)
        state = ArmState(position, np.zeros(7), now - (1.0 if k and rng.random() < broken else 0.0))
        command = safety.filter(state, target, now)
        watch.see(command, PERIOD)
        position = command.position
        assert (np.abs(command.velocity) <= robot.velocity * scale).all()


def test_a_harmless_proposal_passes_untouched():
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    safety.filter(ArmState(robot.home, np.zeros(7), 0.0), robot.home, 0.0)
    proposal = robot.home + 0.005
    command = safety.filter(ArmState(robot.home, np.zeros(7), PERIOD), proposal, PERIOD)
    np.testing.assert_allclose(command.position, proposal, atol=1e-12)
    assert not command.reasons
    assert not safety.changed


def drive(safety, robot, proposal, ticks, start=0, position=None):
    position = robot.home if position is None else position
    command = None
    for k in range(start, start + ticks):
        command = safety.filter(ArmState(position, np.zeros(7), k * PERIOD), proposal, k * PERIOD)
        position = command.position
    return command


def test_a_target_far_off_is_reached_at_full_speed_and_without_overshoot():
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    target = robot.home + np.array([0.6, 0, 0, 0, 0, 0, 0.6])
    peak = 0.0
    position = robot.home
    for k in range(60):
        command = safety.filter(ArmState(position, np.zeros(7), k * PERIOD), target, k * PERIOD)
        position = command.position
        peak = max(peak, np.abs(command.velocity).max())
    assert peak == pytest.approx(robot.max_step / PERIOD, rel=1e-3)
    np.testing.assert_allclose(position, target, atol=1e-3)
    assert {Reason.ACCELERATION, Reason.STEP} <= set(safety.changed)


@pytest.mark.parametrize(
    ("state", "proposal", "reason"),
    [
        ("sound", np.full(7, np.nan), Reason.BAD_PROPOSAL),
        ("sound", np.full(6, 0.0), Reason.BAD_PROPOSAL),
        ("nan", "home", Reason.BAD_STATE),
        ("old", "home", Reason.STALE),
        ("none", "home", Reason.STALE),
        ("elsewhere", "home", Reason.LEAD),
    ],
)
def test_what_cannot_be_trusted_brakes_the_arm_to_rest_and_tells_why(state, proposal, reason):
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    moving = drive(safety, robot, robot.home + 0.5, 5)
    assert not moving.at_rest
    for k in range(5, 25):
        now = k * PERIOD
        states = {
            "sound": ArmState(moving.position, np.zeros(7), now),
            "nan": ArmState(np.full(7, math.nan), np.zeros(7), now),
            "old": ArmState(moving.position, np.zeros(7), now - 0.2),
            "none": None,
            "elsewhere": ArmState(moving.position - 1.0, np.zeros(7), now),
        }
        command = safety.filter(states[state], robot.home if isinstance(proposal, str) else proposal, now)
        assert reason in command.reasons
    assert command.at_rest
    assert safety.changed[reason] == 20


def test_the_braking_path_is_what_braking_then_does():
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    promised = drive(safety, robot, robot.home + 0.5, 6).braking
    for k, expected in enumerate(promised, start=6):
        command = safety.filter(None, None, k * PERIOD)
        np.testing.assert_allclose(command.position, expected, atol=1e-12)
    last = safety.filter(None, None, (6 + len(promised)) * PERIOD)
    assert last.at_rest
    np.testing.assert_array_equal(last.position, command.position)


def test_nothing_is_commanded_before_the_arm_is_known_and_again_after_forgetting():
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    assert safety.filter(None, robot.home, 0.0) is None
    assert safety.filter(ArmState(np.full(7, np.nan), np.zeros(7), 0.1), robot.home, 0.1) is None
    drive(safety, robot, robot.home, 3, start=10)
    safety.forget()
    assert safety.filter(None, robot.home, 1.0) is None
    elsewhere = robot.home + 0.5
    command = safety.filter(ArmState(elsewhere, np.zeros(7), 1.04), elsewhere, 1.04)
    np.testing.assert_allclose(command.position, elsewhere)


def test_at_the_workspace_border_the_hand_slides_instead_of_sticking():
    """Pressing down onto the table while moving sideways: the sideways part goes on."""
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    down = robot.home + np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    position = drive(safety, robot, down, 60).position
    assert Reason.WORKSPACE in safety.changed
    press = position + np.array([0.4, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    moved = drive(safety, robot, press, 40, start=60, position=position)
    assert moved.position[0] - position[0] > 0.3
    assert end_effector_position(moved.position)[2] >= robot.workspace_low[2]


def test_a_clock_set_back_stops_nothing_for_good():
    robot = ROBOTS["panda"]
    safety = SafetyFilter(robot)
    drive(safety, robot, robot.home, 3, start=100)
    command = drive(safety, robot, robot.home + 0.1, 30)
    np.testing.assert_allclose(command.position, robot.home + 0.1, atol=1e-3)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1.5, math.nan])
def test_an_impossible_speed_scale_is_refused(scale):
    with pytest.raises(ValueError, match="speed_scale"):
        SafetyFilter(ROBOTS["panda"], scale)


def test_an_arm_beyond_its_limits_is_not_pulled_back_at_one_stroke():
    robot, safety = ROBOTS["panda"], SafetyFilter(ROBOTS["panda"])
    beyond = robot.home.copy()
    beyond[3] = robot.position_high[3] + 0.3
    for now in (0.0, PERIOD):
        assert safety.filter(ArmState(beyond, np.zeros(7), now), robot.home, now) is None
    assert safety.changed[Reason.BEYOND_LIMITS] == 2
    beyond[3] = robot.position_high[3] + 0.05
    command = safety.filter(ArmState(beyond, np.zeros(7), 1.0), robot.home, 1.0)
    assert np.abs(command.position - beyond).max() <= robot.max_step
