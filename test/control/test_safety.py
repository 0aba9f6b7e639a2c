"""The filter's promise: whatever comes in, what goes out is within every limit, and the hand never goes further out."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ompo_ros.control.motion import Motion
from ompo_ros.control.safety import ArmState, Reason, SafetyFilter
from ompo_ros.control.workspace import Workspace
from ompo_ros.experiments.campaign.checks import reconstruct
from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import read_limits
from ompo_ros.task.joint_speed import SpeedLimit
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import Task

DRIVERS = ("ros2_control", "franka_ros2")  # setpoints, trajectories
ROBOTS = {(name, driver): load_robot(name, driver) for name in ("panda", "fr3") for driver in DRIVERS}
# A robot whose jerk limit binds before its acceleration limit.
for kind in DRIVERS:
    ROBOTS["gentle", kind] = dataclasses.replace(ROBOTS["panda", kind], jerk=np.full(7, 200.0))
PANDA = ROBOTS["panda", "ros2_control"]
PERIOD = 0.04


class Judge:
    """Rebuilds what the driver does with the filter's commands and holds it against the preset's limits."""

    def __init__(self, name, driver):
        preset = "panda" if name == "gentle" else name
        self.limits = read_limits(preset, driver)
        if name == "gentle":
            self.limits = dataclasses.replace(self.limits, jerk=ROBOTS[name, driver].jerk)
        self.commands = []
        self.last = -math.inf

    def hear(self, command, now):
        if command is None or Reason.EARLY in command.reasons:
            return
        forward = not self.limits.is_trajectory
        points = tuple(Point(k.time - command.time, k.position, k.velocity, k.acceleration) for k in command.knots)
        self.commands.append(Command(now, (Point(0.0, command.position),) if forward else points, now))

    def violations(self, start):
        if not self.commands:
            return []
        return reconstruct(self.commands, start, self.limits, self.commands[-1].received + 1.0, jitter=0.0)[1]


NUMBERS = st.one_of(st.floats(-4.0, 4.0), st.floats(allow_nan=True, allow_infinity=True))
LIMITS = load_robot("panda").position_low, load_robot("panda").position_high
VECTORS = st.one_of(
    st.lists(st.floats(-0.02, 1.02), min_size=7, max_size=7).map(
        lambda shares: LIMITS[0] + np.array(shares) * (LIMITS[1] - LIMITS[0])
    ),
    st.lists(st.floats(-4.0, 4.0), min_size=7, max_size=7).map(np.array),
    st.lists(NUMBERS, min_size=7, max_size=7).map(np.array),
    st.lists(NUMBERS, max_size=9).map(np.array),
    st.none(),
)
GAPS = st.one_of(st.just(PERIOD), st.floats(0.0, 1.0))


@pytest.mark.parametrize(("name", "driver"), ROBOTS)
@settings(max_examples=30)
@given(data=st.data())
def test_arbitrary_states_proposals_and_times_never_break_a_limit(name, driver, data):
    pairs = data.draw(st.lists(st.tuples(VECTORS, VECTORS), min_size=1, max_size=25))
    gaps = data.draw(st.lists(GAPS, min_size=len(pairs), max_size=len(pairs)))
    safety, judge = SafetyFilter(ROBOTS[name, driver]), Judge(name, driver)
    now, start = 10.0, None
    for (state, proposal), gap in zip(pairs, gaps, strict=True):
        now += gap
        command = safety.filter(None if state is None else ArmState(state, np.zeros(7), now), proposal, now)
        if command is not None and start is None:
            start = np.clip(state, ROBOTS[name, driver].position_low, ROBOTS[name, driver].position_high)
            assert (np.abs(start - state) <= ROBOTS[name, driver].max_step).all()
        judge.hear(command, now)
    assert not judge.violations(start)


@pytest.mark.parametrize(("name", "driver"), ROBOTS)
@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32 - 1),
    hold=st.integers(1, 40),
    reach=st.floats(0.05, 6.0),
    broken=st.sampled_from([0.0, 0.2]),
    scale=st.sampled_from([1.0, 0.3]),
)
def test_an_adversary_that_pushes_against_every_wall_never_gets_through(name, driver, seed, hold, reach, broken, scale):
    """Far targets held for a while drive the arm at full speed into limits and workspace, states break at random."""
    robot, rng = ROBOTS[name, driver], np.random.default_rng(seed)
    safety, judge = SafetyFilter(robot, scale), Judge(name, driver)
    start = rng.uniform(robot.position_low, robot.position_high) if seed % 2 else robot.home
    position, target, depth = start, start, Workspace(robot).outside(start)
    for k in range(100):
        now = 10.0 + k * PERIOD
        if k % hold == 0:
            target = position + rng.uniform(-reach, reach, 7)
        state = ArmState(position, np.zeros(7), now - (1.0 if k and rng.random() < broken else 0.0))
        command = safety.filter(state, target, now)
        judge.hear(command, now)
        position = safety.reference(now)
        assert (np.abs(command.velocity) <= robot.velocity * scale).all()
        now_out = Workspace(robot).outside(position)
        assert now_out <= depth + 1e-3  # between two looks it may bulge by less than a millimetre
        depth = min(depth, now_out)
    assert not judge.violations(start)


def push_past_an_end(robot, driver, joint, side):
    """Push one joint of an FR3 at full speed past the end of its range; where it stops, and the judge's findings."""
    safety, judge, position = SafetyFilter(robot), Judge("fr3", driver), robot.home.copy()
    end = (robot.position_high if side > 0 else robot.position_low)[joint]
    position[joint] = end - side
    start, target = position, position + 2.0 * side * np.eye(7)[joint]
    for k in range(60):
        now = 10.0 + k * PERIOD
        judge.hear(safety.filter(ArmState(position, np.zeros(7), now), target, now), now)
        position = safety.reference(now)
    return abs(position[joint] - end), judge.violations(start)


WIDE = {"workspace_low": np.full(3, -2.0), "workspace_high": np.full(3, 2.0)}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("joint", [0, 2, 4, 5, 6])  # the others would meet the table
def test_towards_a_joints_end_an_fr3_brakes_ahead_of_its_falling_limit_and_gets_there(joint, side, driver):
    missing, violations = push_past_an_end(dataclasses.replace(ROBOTS["fr3", driver], **WIDE), driver, joint, side)
    assert not violations
    assert missing < 0.02


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("joint", [0, 4, 6])
def test_a_filter_that_knows_only_the_highest_velocity_is_found_out_near_a_joints_end(joint, driver):
    robot = ROBOTS["fr3", driver]
    ignorant = dataclasses.replace(robot, speed_limit=SpeedLimit.constant(robot.velocity), **WIDE)
    _, violations = push_past_an_end(ignorant, driver, joint, 1.0)
    assert {violation.kind for violation in violations} == {"velocity"}
    assert {violation.joint for violation in violations} == {joint}


def test_a_harmless_proposal_passes_untouched():
    robot = PANDA
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
    robot = PANDA
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
    robot = PANDA
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


def test_a_trajectory_that_nothing_follows_is_what_braking_then_does():
    robot = ROBOTS["panda", "franka_ros2"]
    safety = SafetyFilter(robot)
    now = 30 * PERIOD
    drive(safety, robot, robot.home + 0.5, 31)
    promised = safety.filter(None, None, now + PERIOD).knots
    assert not promised[-1].velocity.any()
    for k in range(2, 12):
        command = safety.filter(None, None, now + k * PERIOD)
    assert command.at_rest
    np.testing.assert_allclose(safety.reference(now + 1.0), promised[-1].position, atol=1e-9)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("stall", [0.3, 0.6, 2.0])
def test_a_node_that_was_stopped_goes_on_from_where_the_arm_came_to_rest_meanwhile(driver, stall):
    """The driver plays out what it has while nobody commands it: the next command must not pull the arm back."""
    robot, judge = ROBOTS["panda", driver], Judge("panda", driver)
    safety, position, now = SafetyFilter(robot), robot.home, 10.0
    for k in range(60):
        now += stall if k == 30 else PERIOD
        command = safety.filter(ArmState(position, np.zeros(7), now), position + 0.05 if k < 40 else None, now)
        judge.hear(command, now)
        position = safety.reference(now)
    assert not judge.violations(robot.home)


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_command_that_never_left_changes_nothing(driver):
    robot, judge, rng = ROBOTS["panda", driver], Judge("panda", driver), np.random.default_rng(5)
    safety, position = SafetyFilter(robot), robot.home
    for k in range(200):
        now = 10.0 + k * PERIOD
        command = safety.filter(ArmState(position, np.zeros(7), now), position + rng.uniform(-0.05, 0.05, 7), now)
        if k and rng.random() < 0.3:
            safety.withdraw()
        else:
            judge.hear(command, now)
        position = safety.reference(now)
    assert not judge.violations(robot.home)


@pytest.mark.parametrize("away", [0.3, 0.6])
@pytest.mark.parametrize("fate", ["withheld", "lost", "lost, then stopped"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_moved_arm_is_met_within_the_limits_although_the_first_commands_never_arrived(count, fate, away):
    robot = ROBOTS["panda", "franka_ros2"]
    judge, safety, now = Judge("panda", "franka_ros2"), SafetyFilter(robot), 10.0
    for _ in range(5):
        judge.hear(safety.filter(ArmState(robot.home, np.zeros(7), now), robot.home, now), now)
        now += PERIOD
    moved, now = (
        robot.home + away * np.array([1, 0, 1, 1, 1, 0, 1]),
        now + 5.0,
    )  # by hand; the driver holds its setpoint
    safety.resume(moved, moved=True)
    for _ in range(count):
        safety.filter(ArmState(moved, np.zeros(7), now), moved, now)
        if fate == "withheld":
            safety.withdraw()
        safety.delivered = fate == "withheld"
        now += PERIOD
    if fate == "lost, then stopped":
        safety.resume(moved, moved=False)
    for _ in range(5):
        judge.hear(safety.filter(ArmState(moved, np.zeros(7), now), moved, now), now)
        safety.delivered = True
        now += PERIOD
    assert judge.commands
    assert not judge.violations(robot.home)


def test_a_first_command_that_never_left_is_made_again_as_it_was():
    robot, state = ROBOTS["panda", "franka_ros2"], ArmState(PANDA.home, np.zeros(7), 10.0)
    safety = SafetyFilter(robot)
    first = safety.filter(state, robot.home, 10.0)
    safety.withdraw()
    again = safety.filter(state, robot.home, 10.0)
    assert [knot.time for knot in again.knots] == [knot.time for knot in first.knots]


@pytest.mark.parametrize("arrived", [True, False])
def test_where_the_arm_stands_shows_whether_an_unacknowledged_setpoint_arrived(arrived):
    robot, judge = PANDA, Judge("panda", "ros2_control")
    safety, position, now = SafetyFilter(robot), robot.home, 10.0
    for k in range(21):
        now += PERIOD
        command = safety.filter(ArmState(position, np.zeros(7), now), position + 0.05, now)
        if k < 20 or arrived:
            judge.hear(command, now)
            held = command.position
        position = safety.reference(now)
    safety.delivered = False
    now += 1.0
    safety.resume(held + 0.005, moved=False)
    safety.delivered = True
    judge.hear(safety.filter(ArmState(held, np.zeros(7), now), held, now), now)
    assert not judge.violations(robot.home)


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_of_two_near_setpoints_neither_is_left_at_full_speed_after_a_stand(share):
    robot, judge = PANDA, Judge("panda", "ros2_control")
    safety, now = SafetyFilter(robot), 10.0
    first = safety.filter(ArmState(robot.home, np.zeros(7), now), robot.home + 0.004, now)
    judge.hear(first, now)
    now += PERIOD
    lost = safety.filter(ArmState(robot.home, np.zeros(7), now), robot.home + 0.008, now)
    safety.delivered = False
    measured = first.position + share * (lost.position - first.position)
    now += 1.0
    safety.resume(measured, moved=False)
    safety.delivered = True
    for _ in range(5):
        judge.hear(safety.filter(ArmState(measured, np.zeros(7), now), robot.home + 1.0, now), now)
        now += PERIOD
    assert not judge.violations(robot.home)


@pytest.mark.parametrize("arrived", [0, 1, 2, 3])
def test_of_several_unacknowledged_setpoints_the_one_where_the_arm_stands_arrived(arrived):
    robot, judge = PANDA, Judge("panda", "ros2_control")
    safety, now, around = SafetyFilter(robot), 10.0, np.eye(7)[0]
    for k in range(20):
        safety.delivered = k < 17
        position = robot.home if k == 0 else safety.reference(now)
        command = safety.filter(ArmState(position, np.zeros(7), now), position + 0.05 * around, now)
        if k < 17 + arrived:
            judge.hear(command, now)
            held = command.position
        now += PERIOD
    now += 1.0
    safety.resume(held + 0.003, moved=False)
    for _ in range(5):
        judge.hear(safety.filter(ArmState(held, np.zeros(7), now), held + around, now), now)
        now += PERIOD
    assert not judge.violations(robot.home)


def test_a_setpoint_after_a_stall_is_known_although_its_acknowledgement_is_still_due():
    robot, judge = PANDA, Judge("panda", "ros2_control")
    safety, position, now = SafetyFilter(robot), robot.home, 10.0
    for _ in range(20):
        now += PERIOD
        command = safety.filter(ArmState(position, np.zeros(7), now), position + 0.05, now)
        judge.hear(command, now)
        position = safety.reference(now)
    sagged = command.position + 0.003
    now += 1.6  # the node was stopped; its first command brakes, and the next one comes before the acknowledgement
    judge.hear(safety.filter(None, None, now), now)
    safety.delivered = False
    safety.resume(sagged, moved=False)
    for _ in range(5):
        now += PERIOD
        judge.hear(safety.filter(ArmState(sagged, np.zeros(7), now), sagged - 1.0, now), now)
        safety.delivered = True
    assert not judge.violations(robot.home)


def test_an_arm_that_may_hold_one_of_two_setpoints_is_left_alone_until_it_stands():
    motion, now, position = Motion(PANDA, Task("reach", "dense"), 1.0, "ompo enable"), 10.0, PANDA.home
    for k in range(20):
        now += PERIOD
        motion.filter.delivered = k < 19
        state = ArmState(position, np.zeros(7), now)
        motion.begin(state)
        motion.propose(state, position + 0.05, now)
        position = motion.filter.reference(now)
    motion.filter.delivered = False
    motion.leave()
    now += 1.0
    still = np.zeros(7)
    assert "no joint state" in motion.doubt(ArmState(position, still, now - 0.5), None, now)
    assert "come to rest" in motion.doubt(ArmState(position, still, now), None, now)
    now += 0.3
    assert "come to rest" in motion.doubt(ArmState(position, still + 0.5, now), None, now)
    assert motion.doubt(ArmState(position, still, now), None, now) == ""


def test_nothing_is_commanded_before_the_arm_is_known_and_again_after_forgetting():
    robot = PANDA
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
    robot = PANDA
    safety = SafetyFilter(robot)
    down = robot.home + np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    position = drive(safety, robot, down, 60).position
    assert Reason.WORKSPACE in safety.changed
    press = position + np.array([0.4, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    moved = drive(safety, robot, press, 40, start=60, position=position)
    assert moved.position[0] - position[0] > 0.3
    assert end_effector_position(moved.position)[2] >= robot.workspace_low[2]


def test_a_clock_set_back_stops_nothing_for_good():
    robot = PANDA
    safety = SafetyFilter(robot)
    drive(safety, robot, robot.home, 3, start=100)
    command = drive(safety, robot, robot.home + 0.1, 30)
    np.testing.assert_allclose(command.position, robot.home + 0.1, atol=1e-3)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1.5, math.nan])
def test_an_impossible_speed_scale_is_refused(scale):
    with pytest.raises(ValueError, match="speed_scale"):
        SafetyFilter(PANDA, scale)


def test_an_arm_beyond_its_limits_is_not_pulled_back_at_one_stroke():
    robot, safety = PANDA, SafetyFilter(PANDA)
    beyond = robot.home.copy()
    beyond[3] = robot.position_high[3] + 0.3
    for now in (0.0, PERIOD):
        assert safety.filter(ArmState(beyond, np.zeros(7), now), robot.home, now) is None
    assert safety.changed[Reason.BEYOND_LIMITS] == 2
    beyond[3] = robot.position_high[3] + 0.05
    command = safety.filter(ArmState(beyond, np.zeros(7), 1.0), robot.home, 1.0)
    assert np.abs(command.position - beyond).max() <= robot.max_step
