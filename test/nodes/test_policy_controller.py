"""The policy controller on the stand-in robot, both as users start them."""

import os
import subprocess
import sys

import launch_pytest
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from echo_arm import EchoArm
from geometry_msgs.msg import PointStamped
from graphs import graph_of, node
from launch_pytest.tools import process as process_tools
from ompo_msgs.msg import EpisodeSummary, PolicyArtifact
from ompo_msgs.srv import SetEnabled
from sensor_msgs.msg import JointState
from shipped_policy import shipped_policy
from std_msgs.msg import Float64MultiArray
from waiting import PATIENCE

from ompo_ros.nodes.wire import qos
from ompo_ros.nodes.wire.conversions import artifact_to_msg
from ompo_ros.nodes.wire.robot_topics import STATES
from ompo_ros.task.kinematics import end_effector_position
from ompo_ros.task.robot import load_robot
from ompo_ros.task.tasks import SUCCESS_DISTANCE, Task

ROBOT = load_robot("panda")
BASE_FRAME = Task("reach", "dense").on(ROBOT).frame
GOAL = [0.55, 0.1, 0.2]


@pytest.fixture(scope="session")
def policy_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "reach.onnx"
    path.write_bytes(shipped_policy(1).onnx)
    return path


@pytest.fixture
def robot():
    return node("robot_sim", simulator="mujoco", domain="nominal")


@pytest.fixture
def file_controller(policy_file):
    return node("policy_controller", policy=str(policy_file), lockstep=True)


@pytest.fixture
def controller():
    return node("policy_controller", enabled=True, blend_time=0.4)


@launch_pytest.fixture
def lockstep_graph(ros_domain, file_controller):
    return graph_of(node("robot_sim", simulator="mujoco", domain="nominal", real_time_factor=0.0), file_controller)


@launch_pytest.fixture
def graph(ros_domain, robot, controller):
    return graph_of(robot, controller)


@launch_pytest.fixture
def lone_graph(ros_domain, controller):
    return graph_of(controller)


@launch_pytest.fixture
def dry_graph(ros_domain, robot, policy_file):
    return graph_of(robot, node("policy_controller", policy=str(policy_file), enabled=True, dry_run=True))


def may_run_in_real_time() -> bool:
    ask = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))"
    return subprocess.run([sys.executable, "-S", "-c", ask], capture_output=True).returncode == 0


class Lab:
    """What a user of the controller hears and says."""

    def __init__(self, probe):
        self.probe = probe
        self.commands = probe.listen(Float64MultiArray, f"/ompo/{ROBOT.driver.command_topic}", 1000)
        self.states = probe.listen(JointState, "/ompo/joint_states", STATES)
        self.reports = probe.listen(DiagnosticArray, "/diagnostics", 10)
        self.attempts = probe.listen(EpisodeSummary, "/ompo/target/episodes", qos.EPISODES)
        self.goals = probe.node.create_publisher(PointStamped, "/ompo/goal", 1)
        self.stable = probe.node.create_publisher(PolicyArtifact, "/ompo/policy/stable", qos.LATCHED)

    def until(self, condition):
        self.probe.spin_until(condition, hint=lambda: f"{self.message}, {len(self.commands)} commands, {self.figures}")

    @property
    def message(self):
        return self.reports[-1].status[0].message if self.reports else ""

    @property
    def figures(self):
        return {entry.key: entry.value for entry in self.reports[-1].status[0].values} if self.reports else {}

    def enable(self, on=True):
        return self.probe.call(SetEnabled, "/ompo/policy_controller/set_enabled", SetEnabled.Request(enabled=on))

    def ask_for(self, goal, frame=BASE_FRAME):
        self.until(self.goals.get_subscription_count)
        msg = PointStamped()
        msg.header.frame_id = frame
        msg.point.x, msg.point.y, msg.point.z = goal
        self.goals.publish(msg)

    def offer(self, policy):
        self.stable.publish(artifact_to_msg(policy.onnx, version=policy.version))

    def moves(self):
        """Whether the newest command is away from the one before."""
        return (
            len(self.commands) > 1 and np.abs(np.subtract(self.commands[-1].data, self.commands[-2].data)).max() > 1e-3
        )

    def hand(self):
        return end_effector_position(np.array(self.states[-1].position))


@pytest.fixture
def lab(probe):
    return Lab(probe)


@pytest.mark.launch(fixture=lockstep_graph)
def test_a_file_reaches_its_goal_once_enabled_and_is_silent_before_and_after(lab, file_controller):
    lab.until(lambda: lab.message == "disabled")
    lab.until(lambda: lab.states)
    assert not lab.commands
    assert lab.enable().message == "enabled"
    lab.until(lambda: lab.message == "running")
    lab.ask_for(GOAL)
    lab.until(lambda: lab.attempts)
    assert (lab.attempts[0].success, lab.attempts[0].deterministic, lab.attempts[0].policy_version) == (True, True, 1)
    assert np.linalg.norm(lab.hand() - GOAL) < SUCCESS_DISTANCE
    assert len(lab.figures["policy_sha256"]) == 64
    assert lab.enable(False).success
    lab.until(lambda: lab.message == "disabled")
    lab.probe.wait_for_silence(lab.commands, lab.reports)
    yield
    assert file_controller.return_code == 0


@pytest.mark.launch(fixture=lockstep_graph)
def test_a_wrong_goal_is_refused_and_the_one_before_kept(lab, file_controller, launch_context):
    for goal, frame, said in (
        (GOAL, "world", "goals are given in 'panda_link0'"),
        ([0.55, float("nan"), 0.2], BASE_FRAME, "three finite coordinates"),
        ([0.55, 0.1, 1.2], BASE_FRAME, "reach has goals from [0.45, -0.15, 0.0]"),
    ):
        lab.ask_for(goal, frame)
        assert process_tools.wait_for_stderr_sync(
            launch_context,
            file_controller,
            lambda text, said=said: "refused a goal" in text and said in text,
            timeout=PATIENCE,
        )
    lab.probe.wait_for_more(lab.reports)
    lab.until(lambda: lab.figures.get("goal") == "0.600 0.000 0.150")


@pytest.mark.launch(fixture=graph)
def test_stable_policies_are_swapped_while_the_arm_moves_without_a_jump(lab, controller, launch_context):
    lab.until(lambda: lab.message == "no stable policy has come yet")
    assert not lab.commands
    lab.offer(shipped_policy(1))
    lab.until(lambda: lab.figures.get("policy_version") == "1" and len(lab.commands) > 10)
    for version in (2, 3):
        lab.ask_for([0.5, 0.15 * (-1) ** version, 0.1])
        lab.until(lab.moves)
        lab.offer(shipped_policy(version, shift=0.3 * (version - 1)))
        lab.until(lambda version=version: lab.figures["policy_version"] == str(version))
    lab.offer(shipped_policy(3, shift=0.6))  # sent again, as by a restarted server
    lab.probe.wait_for_more(lab.reports, 2)
    broken = shipped_policy(4)
    lab.stable.publish(artifact_to_msg(broken.onnx[:-1], version=4))
    assert process_tools.wait_for_stderr_sync(
        launch_context, controller, lambda text: "refused a policy" in text, timeout=PATIENCE
    )
    lab.reports.clear()
    lab.until(lambda: float(lab.figures.get("inference_p50_us", 0.0)) > 0.0)
    assert (lab.figures["policy_version"], lab.figures["policy_swaps"]) == ("3", "2")
    setpoints = np.array([list(msg.data) for msg in lab.commands])
    speeds = np.diff(setpoints, axis=0) / ROBOT.period
    assert np.abs(speeds).max() > 0.05
    assert (np.abs(speeds) <= ROBOT.velocity).all()


@pytest.mark.launch(fixture=graph)
def test_both_run_in_real_time(lab, robot, controller):
    lab.offer(shipped_policy(1))
    lab.until(lambda: lab.message == "running" and lab.commands)
    urgent = [os.sched_getscheduler(process.process_details["pid"]) == os.SCHED_FIFO for process in (robot, controller)]
    assert urgent == 2 * [may_run_in_real_time()]


@pytest.mark.launch(fixture=lone_graph)
def test_when_a_moving_arms_driver_leaves_only_a_person_enables_the_controller_again(lab):
    arm, listener = EchoArm(lab.probe, ROBOT, lockstep=False), lab.probe.node
    topic = f"/ompo/{ROBOT.driver.command_topic}"

    def says(message):
        arm.speak()
        return message in lab.message

    lab.offer(shipped_policy(1))
    lab.until(lambda: says("running"))
    for subscription in [each for each in listener.subscriptions if each.topic_name == topic]:
        listener.destroy_subscription(subscription)
    lab.until(lambda: says("nobody listens"))
    lab.probe.listen(Float64MultiArray, topic, 1)
    lab.until(lambda: says("the driver left"))
    assert lab.enable().success
    lab.until(lambda: says("running"))


@pytest.mark.launch(fixture=lone_graph)
def test_a_silent_robot_is_held_until_it_speaks_again(lab):
    arm, sent = EchoArm(lab.probe, ROBOT, lockstep=False), 0

    def runs():
        arm.speak()
        return lab.message == "running" and len(lab.commands) > sent

    lab.offer(shipped_policy(1))
    lab.until(runs)
    lab.until(lambda: "no joint state for" in lab.message)
    assert lab.reports[-1].status[0].level == DiagnosticStatus.WARN
    lab.probe.wait_for_silence(lab.commands, lab.reports)
    sent = len(lab.commands)
    lab.until(runs)


@pytest.mark.launch(fixture=dry_graph)
def test_a_dry_run_does_all_but_command(lab):
    lab.until(lambda: int(lab.figures.get("filter_calls", 0)) > 10)
    assert lab.message == "running"
    assert float(lab.figures["target_rate"]) == 25.0
    assert not lab.commands


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("missing", "No such file"),
        ("garbage", "ONNX"),
        ("pipe", "is not a regular file"),
        ("another robot's", "not made for this arm: robot is 'fr3' instead of 'panda'"),
    ],
)
def test_a_file_that_cannot_be_run_is_refused_with_a_sentence(make, tmp_path, wrong, said):
    path = tmp_path / "wrong.onnx"
    if wrong == "garbage":
        path.write_bytes(b"no policy")
    elif wrong == "pipe":
        os.mkfifo(path)
    elif wrong != "missing":
        path.write_bytes(shipped_policy(1, robot="fr3").onnx)
    with pytest.raises(ValueError, match=f"{path} cannot be run: .*{said}"):
        make("policy_controller", policy=path)
