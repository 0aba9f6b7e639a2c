"""The campaign's judge: clean command streams pass, and each check fires on a stream made to break it."""

import dataclasses
import subprocess
import sys
import time

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Duration, Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from waiting import wait_until

from ompo_ros.experiments.campaign.checks import brakes_in_time, reconstruct
from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import read_limits
from ompo_ros.experiments.campaign.recording import Disturbances, Recording, read_recording

FORWARD = read_limits("panda")
TRAJECTORY = read_limits("panda", "franka_ros2")
HOME = np.array([0.0, 0.41, 0.0, -1.85, 0.0, 2.26, 0.79])
PERIOD = 0.04
BEGIN = 5000.0
AHEAD = 0.5  # s by which stamps lead


def swing(time, speed=1.0, size=0.4):
    """Position, velocity and acceleration of a joint that swings from rest, and so stays within all limits."""
    angle = speed * time
    place = size * (angle - np.sin(angle)) / 6.0
    return place, size * speed * (1.0 - np.cos(angle)) / 6.0, size * speed**2 * np.sin(angle) / 6.0


def along(joint, value):
    return np.eye(7)[joint] * value


def setpoints(places, joint=0, period=PERIOD, begin=BEGIN):
    return [Command(begin + i * period, (Point(0.0, HOME + along(joint, place)),)) for i, place in enumerate(places)]


def smooth_places(number=100):
    return [swing(i * PERIOD)[0] for i in range(number)]


def smooth_point(time, offset, joint=0, order=2):
    place, velocity, acceleration = swing(time)
    point = Point(offset, HOME + along(joint, place), along(joint, velocity), along(joint, acceleration))
    if order < 2:
        point = dataclasses.replace(point, acceleration=None)
    return dataclasses.replace(point, velocity=None) if order < 1 else point


def stop_from(time, offset):
    """A point of rest far enough behind a point of the swing."""
    place, velocity, _ = swing(time)
    return Point(offset + 1.0, HOME + along(0, place + velocity * 0.5), np.zeros(7), np.zeros(7))


def smooth_trajectories(number=100, stamped=True, order=2, delay=0.0):
    """Messages a period ahead of the motion, each ending in rest."""
    messages = []
    for i in range(number):
        now = i * PERIOD
        points = (smooth_point(now + PERIOD, PERIOD, order=order), stop_from(now + PERIOD, PERIOD))
        messages.append(Command(BEGIN + now + delay, points, BEGIN + now if stamped else None))
    return messages


def kinds(commands, limits):
    return sorted({violation.kind for violation in reconstruct(commands, HOME, limits, BEGIN + 6.0)[1]})


def test_the_judge_of_the_motion_shares_no_code_with_control():
    code = """
import sys
from ompo_ros.experiments.campaign import checks, limits, observer, recording
print([name for name in sys.modules if name.startswith("ompo_ros.") and "experiments" not in name])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['ompo_ros.resources']"


def test_limits_come_from_the_preset_itself():
    assert FORWARD.velocity.tolist() == [2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]
    assert (FORWARD.is_trajectory, TRAJECTORY.is_trajectory) == (False, True)
    assert TRAJECTORY.command_topic == "panda_arm_controller/joint_trajectory"
    assert FORWARD.period == pytest.approx(PERIOD)


def test_smooth_setpoints_pass_with_the_jitter_of_a_busy_machine():
    rng = np.random.default_rng(0)
    commands = setpoints(smooth_places())
    shaken = [dataclasses.replace(c, received=c.received + rng.uniform(-0.004, 0.004)) for c in commands]
    assert kinds(shaken, FORWARD) == []


def test_a_setpoint_beyond_the_joints_end_is_seen():
    assert "position" in kinds(setpoints(np.linspace(2.0, 3.0, 100)), FORWARD)


def test_setpoints_too_far_apart_are_too_fast():
    steps = np.concatenate((np.cumsum(np.linspace(0.0, 0.1, 40)), np.full(10, 2.05)))
    assert kinds(setpoints(steps[:30]), FORWARD) == []
    assert "velocity" in kinds(setpoints(steps[:38]), FORWARD)


def test_a_sudden_setpoint_exceeds_the_acceleration():
    assert kinds(setpoints([0.0, 0.0, 0.03]), FORWARD) == ["acceleration"]


def test_a_setpoint_that_moves_on_at_full_speed_after_a_silence_exceeds_the_acceleration():
    places = np.cumsum(np.concatenate((np.linspace(0.0, 0.06, 10), np.full(10, 0.06))))
    commands = setpoints(places)
    assert kinds(commands, FORWARD) == []
    late = [dataclasses.replace(c, received=c.received + 0.3 * (i > 14)) for i, c in enumerate(commands)]
    assert kinds(late, FORWARD) == ["acceleration"]


def test_two_setpoints_at_once_leave_no_time_to_change_velocity():
    places = np.cumsum(np.linspace(0.0, 0.06, 20))
    commands = setpoints(places)
    hurried = [dataclasses.replace(c, received=c.received - 0.035 * (i == 15)) for i, c in enumerate(commands)]
    assert "acceleration" in kinds(hurried, FORWARD)


def test_a_setpoint_that_is_no_number_is_seen():
    assert "position" in kinds(setpoints([0.0, 0.0, float("nan")]), FORWARD)


@pytest.mark.parametrize("stamped", [True, False])
def test_smooth_trajectories_pass(stamped):
    assert kinds(smooth_trajectories(stamped=stamped), TRAJECTORY) == []


def test_stamped_trajectories_pass_however_late_they_come():
    rng = np.random.default_rng(1)
    late = [dataclasses.replace(c, received=c.received + rng.uniform(0.0, 0.035)) for c in smooth_trajectories()]
    assert kinds(late, TRAJECTORY) == []


def test_the_motion_goes_through_the_points_of_the_messages():
    motion, _ = reconstruct(smooth_trajectories(), HOME, TRAJECTORY, BEGIN + 6.0)
    at = int(np.searchsorted(motion.times, BEGIN + 2.0 - 1e-6))
    assert motion.positions[at, 0] == pytest.approx(swing(2.0)[0], abs=1e-6)
    assert motion.velocities[at, 0] == pytest.approx(swing(2.0)[1], abs=1e-3)


def test_after_the_last_message_the_motion_ends_in_the_rest_it_promised():
    motion, _ = reconstruct(smooth_trajectories(50), HOME, TRAJECTORY, BEGIN + 6.0)
    place, velocity, _ = swing(2.0)
    assert motion.positions[-1, 0] == pytest.approx(place + velocity * 0.5)
    assert motion.speed_at(BEGIN + 5.0) == 0.0


@pytest.mark.parametrize(
    ("distance", "seconds", "kind"),
    [(2.0, 1.0, "velocity"), (0.5, 0.4, "acceleration"), (0.02, 0.04, "jerk"), (3.0, 4.0, "position")],
)
def test_each_limit_of_a_trajectory_fires(distance, seconds, kind):
    reach = Point(seconds, HOME + along(0, distance), np.zeros(7), np.zeros(7))
    assert kind in kinds([Command(BEGIN, (reach,))], TRAJECTORY)
    gentle = Point(seconds * 8.0, HOME + along(0, distance * 0.5), np.zeros(7), np.zeros(7))
    assert kinds([Command(BEGIN, (gentle,))], TRAJECTORY) == []


def test_points_without_accelerations_are_joined_by_cubics_whose_steps_are_jerk():
    hops = tuple(Point(0.1 * i, HOME + along(0, 0.02 * i), np.zeros(7)) for i in (1, 2))
    assert kinds([Command(BEGIN, hops)], TRAJECTORY) == ["jerk"]


def test_points_without_velocities_are_joined_by_lines_with_corners():
    assert kinds(smooth_trajectories(order=0), TRAJECTORY) == ["acceleration", "jerk"]


def test_a_message_that_comes_after_its_first_points_starts_within_it():
    """The controller jumps into the segment that contains the moment: where that differs, it is a jump of the arm."""
    far = (Point(0.04, HOME + along(0, 0.05), np.zeros(7), np.zeros(7)), stop_from(0.0, 1.0))
    assert "velocity" in kinds([Command(BEGIN + 0.1, far, BEGIN)], TRAJECTORY)


def test_a_message_that_is_over_is_dropped():
    far = Point(0.04, HOME + along(0, 1.0), np.zeros(7), np.zeros(7))
    motion, violations = reconstruct([Command(BEGIN + 0.1, (far,), BEGIN)], HOME, TRAJECTORY, BEGIN + 1.0)
    assert violations == []
    np.testing.assert_allclose(motion.positions, np.tile(HOME, (motion.times.size, 1)))


def test_excesses_at_once_are_one_violation_and_lasting_ones_are_several():
    once = setpoints([0.0, 0.0, 0.03, 0.0, 0.03])
    again = setpoints([0.0, 0.0, 0.03], begin=BEGIN + 3.0)
    lasting = setpoints([0.0, 0.03] * 25)
    counts = [len(reconstruct(c, HOME, FORWARD, BEGIN + 6.0)[1]) for c in (once, once + again, lasting)]
    assert counts[:2] == [1, 2]
    assert counts[2] >= 7


def braking_places(brake_after):
    speeds = np.concatenate(
        (np.linspace(0.0, 0.04, 10), np.full(brake_after, 0.04), np.linspace(0.035, 0.0, 8), np.zeros(20))
    )
    return setpoints(np.cumsum(speeds))


@pytest.mark.parametrize(("brake_after", "in_time"), [(11, True), (18, False)])
def test_an_arm_that_goes_on_for_longer_than_it_may_is_a_late_hold(brake_after, in_time):
    motion, _ = reconstruct(braking_places(brake_after), HOME, FORWARD, BEGIN + 6.0)
    fault = BEGIN + 20 * PERIOD
    assert brakes_in_time(motion, fault, fault + 2.0, PERIOD) is in_time


def test_a_fault_that_is_over_at_once_demands_no_braking():
    motion, _ = reconstruct(braking_places(40), HOME, FORWARD, BEGIN + 6.0)
    assert brakes_in_time(motion, BEGIN + 1.0, BEGIN + 1.08, PERIOD) is None


def test_an_arm_that_starts_again_during_the_fault_is_a_late_hold():
    commands = [*braking_places(0), *setpoints(np.cumsum(np.linspace(0, 0.04, 20)) + 0.3, begin=BEGIN + 1.0)]
    motion, _ = reconstruct(commands, HOME, FORWARD, BEGIN + 6.0)
    assert brakes_in_time(motion, BEGIN + 0.4, BEGIN + 2.0, PERIOD) is False


def test_an_arm_whose_commands_end_holds_in_time():
    motion, _ = reconstruct(braking_places(40)[:20], HOME, FORWARD, BEGIN + 6.0)
    assert brakes_in_time(motion, BEGIN + 19 * PERIOD, BEGIN + 6.0, PERIOD) is True


def test_a_missed_command_is_not_held_against_the_arm_unless_the_network_was_cut():
    places = [HOME + along(0, x) for x in (0.0, 0.001, 0.5, 0.5, 0.501)]
    numbers = [1, 2, 4, 5, 6]
    commands = [
        Command(BEGIN + i * PERIOD, (Point(0.0, place),), None, number)
        for i, (place, number) in enumerate(zip(places, numbers, strict=True))
    ]
    states = [(BEGIN - 2.0, HOME), (BEGIN - 0.01, HOME)]
    alone = Recording(commands, states).motions_between(0.0, np.inf)
    assert [[command.number for command in piece] for piece, _ in alone] == [[1, 2], [5, 6]]
    np.testing.assert_allclose([start for _, start in alone], [HOME, places[3]])
    cut = Recording(commands, states, cuts=[(BEGIN + 1.1 * PERIOD, BEGIN + 1.9 * PERIOD)])
    assert [len(piece) for piece, _ in cut.motions_between(0.0, np.inf)] == [5]


# -- over DDS ----------------------------------------------------------------------------------------------------


def to_msg(point):
    offset = Duration(nanosec=round(point.offset % 1.0 * 1e9), sec=int(point.offset))
    values = {"positions": point.position, "velocities": point.velocity, "accelerations": point.acceleration}
    return JointTrajectoryPoint(time_from_start=offset, **{name: value.tolist() for name, value in values.items()})


@pytest.fixture
def arm(ros_domain):
    """A node that plays collector and robot."""
    rclpy.init()
    yield rclpy.create_node("arm", namespace="/ompo")
    rclpy.shutdown()


def send_swing(arm, commands, states, jump):
    """A second and a half of the swing, each message stamped ahead; a jump comes in its middle.

    False where loaded cores kept a message back until its first point was over: no driver follows such a swing.
    """
    names, ahead = list(TRAJECTORY.joint_names), round(AHEAD * 1e9)
    begin = time.time_ns() + ahead
    for i in range(38):
        now = begin + i * 40_000_000
        time.sleep(max(0.0, (now - ahead - time.time_ns()) * 1e-9))
        states.publish(JointState(name=names, position=HOME.tolist()))
        points = [smooth_point((i + 1) * PERIOD, PERIOD), stop_from((i + 1) * PERIOD, PERIOD)]
        points = [dataclasses.replace(p, position=p.position + along(0, jump * (i > 20))) for p in points]
        stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
        header, messages = Header(stamp=stamp), [to_msg(point) for point in points]
        commands.publish(JointTrajectory(header=header, joint_names=names, points=messages))
        if time.time_ns() > now:
            return False
    return True


def heard(path):
    return read_recording(path, Disturbances()) if path.exists() else Recording()


def wait_until_heard(path, commands, states):
    """Publish until both ways are open; a trajectory of long ago moves no arm."""
    names = list(TRAJECTORY.joint_names)
    over = JointTrajectory(header=Header(stamp=Time(sec=1)), joint_names=names, points=[to_msg(stop_from(0.0, 0.0))])

    def both_ways_open():
        commands.publish(over)
        states.publish(JointState(name=names, position=HOME.tolist()))
        recording = heard(path)
        return recording.commands and recording.states

    wait_until(both_ways_open, "the observer's first messages", pause=0.1)


def observed_swing(path, arm, commands, states, jump):
    """What an observer recorded of a swing; nothing where the swing was not sent in time."""
    module = "ompo_ros.experiments.campaign.observer"
    observer = subprocess.Popen([sys.executable, "-m", module, str(path), "--driver", "franka_ros2"])
    try:
        wait_until_heard(path, commands, states)
        before = len(heard(path).commands)
        if not send_swing(arm, commands, states, jump):
            return None
        wait_until(lambda: len(heard(path).commands) >= before + 38, "the swing in the observer's file", pause=0.1)
    finally:
        observer.kill()
        observer.wait()
    return heard(path)


@pytest.mark.parametrize(("jump", "kinds_seen"), [(0.0, set()), (1.0, {"velocity", "acceleration"})])
def test_the_observer_hears_stamped_trajectories_as_they_were_sent(arm, tmp_path, jump, kinds_seen):
    commands = arm.create_publisher(JointTrajectory, TRAJECTORY.command_topic, 100)
    states = arm.create_publisher(JointState, TRAJECTORY.state_topic, 100)
    paths = (tmp_path / f"recording-{number}.jsonl" for number in range(20))
    recording = next(filter(None, (observed_swing(path, arm, commands, states, jump) for path in paths)))
    np.testing.assert_allclose(recording.states[0][1], HOME)
    assert all(command.starts is not None for command in recording.commands)
    _, violations = reconstruct(recording.commands, HOME, TRAJECTORY, recording.commands[-1].received + AHEAD + 1.5)
    assert {violation.kind for violation in violations} == kinds_seen
