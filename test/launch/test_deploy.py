"""deploy.launch.py as a user starts it, in lockstep: a file, or a registry whose stable policy the arm judges."""

import itertools
import os
import re
import signal
import time

import pytest
from geometry_msgs.msg import PointStamped
from launched import Launched, shown_arguments
from ompo_msgs.msg import EpisodeSummary
from ompo_msgs.srv import SetEnabled
from probe import Probe
from shell import answered, ompo
from shipped_policy import shipped_policy
from waiting import wait_until

from ompo_ros.nodes.wire import qos
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import STABLE
from ompo_ros.task.acting import Evaluation
from ompo_ros.task.tasks import Task

# Steps of the arm after which its drives begin to creep.
DRIFT = "drift:\n  action_bias:\n    jumps: {at: [3000], values: [0.0, 0.75]}\n    over: steps\n"
GOALS = ([0.48, -0.12, 0.08], [0.7, 0.12, 0.25], [0.48, 0.12, 0.25], [0.7, -0.12, 0.08])


@pytest.fixture
def start(tmp_path, ros_domain):
    launches = []

    def start_launch(**arguments: object) -> Launched:
        chosen = {"target": "mujoco", "real_time_factor": "0.0", **arguments}
        launches.append(Launched(tmp_path, "deploy.launch.py", chosen))
        return launches[-1]

    yield start_launch
    for launched in launches:
        launched.clean_up()


class User(Probe):
    """Sends the arm from goal to goal."""

    def __init__(self) -> None:
        super().__init__(namespace="ompo")
        self.attempts = self.listen(EpisodeSummary, "target/episodes", qos.EPISODES)
        self.goals = self.node.create_publisher(PointStamped, "goal", 1)

    def outcomes(self, version) -> list[bool]:
        return [attempt.success for attempt in self.attempts if attempt.policy_version == version]

    def send_around(self, until) -> None:
        """Give another goal whenever an attempt has ended."""
        for goal in itertools.cycle(GOALS):
            if until():
                return
            msg = PointStamped()
            msg.header.frame_id = Task("reach", "dense").contract.frame
            msg.point.x, msg.point.y, msg.point.z = goal
            before = len(self.attempts)
            self.goals.publish(msg)
            # A swap spoils an attempt: after some time the next goal is due all the same.
            self.spin_for_change(lambda before=before: len(self.attempts) > before or until())

    def spin_for_change(self, condition, seconds=3.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.05)


@pytest.fixture
def user(ros_domain):
    user = User()
    yield user
    user.close()


@pytest.fixture
def registry_dir(tmp_path):
    """A run's registry: the policy before was made for an arm that creeps, the stable one was not."""
    registry = Registry(tmp_path / "policies")
    for version, shift in ((1, 0.8), (2, 0.0)):
        proven = shipped_policy(version, shift).evaluated(Evaluation(20, 20, -2.0))
        registry.add(proven, "proven", channel=STABLE)
    registry.close()
    return tmp_path / "policies"


def test_stable_moves_back_when_the_arm_that_runs_it_changes(start, user, tmp_path, registry_dir):
    domain = tmp_path / "wearing.yaml"
    domain.write_text(DRIFT)
    launched = start(registry_dir=registry_dir, target_domain=domain)
    launched.wait_for(r"policy 2 takes over")
    user.spin_until(user.goals.get_subscription_count)
    user.call(SetEnabled, "policy_controller/set_enabled", SetEnabled.Request(enabled=True))
    user.send_around(lambda: "policy 1 takes over" in launched.output or len(user.attempts) > 100)
    assert "stable fell back from 2 to 1: " in launched.output, launched.output
    assert "Fisher's exact p = " in launched.output
    assert all(user.outcomes(2)[:3]), user.outcomes(2)  # it was good
    user.send_around(lambda: len(user.outcomes(1)) >= 3 or len(user.attempts) > 150)
    assert len(user.outcomes(1)) >= 3  # the arm goes on with it, from wherever the other one left it
    assert launched.interrupt() == 0, launched.output
    assert launched.left_behind() == []


def test_without_arguments_the_shipped_policy_goes_to_the_goals_that_a_shell_sends(start):
    launched = start()
    launched.wait_for("policy 1 takes over")
    wait_until(lambda: "policy_controller on panda: disabled" in ompo("status").stdout, "the arm's report")
    waiting = answered("goal", "0.55", "0.1", "0.2")
    assert waiting.returncode == 1, "not yet reached"
    assert waiting.stdout.splitlines() == [
        "goal 0.550 0.100 0.200 accepted",
        "the arm does not move (disabled): run `ompo enable`",
    ]
    assert answered("enable").returncode == 0
    launched.wait_for("goal 0.550 0.100 0.200 reached: ")
    gone = answered("goal", "0.5", "-0.1", "0.1")
    assert (gone.returncode, gone.stdout.splitlines()[0]) == (0, "goal 0.500 -0.100 0.100 accepted"), gone.stderr
    assert gone.stdout.splitlines()[1].startswith("goal 0.500 -0.100 0.100 reached: ")
    refused = answered("goal", "0.5", "0.0", "0.9")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "0.450 -0.150 0.000 to 0.750 0.150 0.300 (x y z in panda_link0, m)" in refused.stderr
    told = ("2 in /ompo: policy_controller, robot_sim", "; 2 sent, 2 of 2 reached")
    wait_until(lambda: all(words in answered("status").stdout for words in told), "all of the arm's status")
    assert "goal 0.550 0.100 0.200 accepted; the arm waits: disabled, run `ompo enable`" in launched.output
    assert launched.interrupt() == 0, launched.output


def test_a_shell_that_finds_no_graph_says_what_to_do(ros_domain):
    for verb, said in (("goal", "ros2 launch ompo_ros deploy.launch.py"), ("status", "start a launch")):
        result = ompo(verb, *(["0.5", "0", "0.1"] if verb == "goal" else []), "--namespace", "/nowhere")
        assert (result.returncode, result.stdout) == (3, "")
        assert said in result.stderr


def test_a_file_is_run_and_a_wrong_one_ends_the_launch_with_a_sentence(start, tmp_path):
    path = tmp_path / "reach.onnx"
    path.write_bytes(shipped_policy(7).onnx)
    launched = start(policy=path)
    launched.wait_for("policy 7 takes over")
    launched.wait_for("reach_dense on panda, commands on /ompo/forward_position_controller/commands")
    assert launched.interrupt() == 0, launched.output
    path.write_bytes(b"no policy")
    refused = start(policy=path)
    assert refused.end() == 1
    assert f"{path} cannot be run" in refused.output
    nothing = start(registry_dir=tmp_path / "nothing")
    assert nothing.end() == 1
    assert "give the folder `policies` of a finished run" in nothing.output
    assert not (tmp_path / "nothing").exists()


def test_a_page_that_dies_ends_nothing_and_its_token_is_in_no_log(start, tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    path = tmp_path / "reach.onnx"
    path.write_bytes(shipped_policy(7).onnx)
    launched = start(policy=path, view="true", view_host="0.0.0.0")  # noqa: S104 - so that it asks for a token
    launched.wait_for(r"The run in a browser: http://\S+:\d+/\?token=\S{32}")
    launched.wait_for("policy 7 takes over")
    os.kill(launched.pid_of("monitor"), signal.SIGKILL)
    launched.wait_for("the page has ended; all else goes on")
    assert launched.interrupt() == 0, launched.output
    assert launched.left_behind() == []
    token = re.search(r"token=(\S{32})", launched.output)[1].encode()
    logs = [path.read_bytes() for path in (tmp_path / "log").rglob("*") if path.is_file()]
    assert any(b"policy 7 takes over" in log for log in logs)
    assert not any(token in log for log in logs)


def test_arguments_are_described_and_wrong_ones_refused(start, tmp_path):
    shown = shown_arguments("deploy.launch.py")
    for argument in (
        "policy",
        "registry_dir",
        "target",
        "driver",
        "enabled",
        "dry_run",
        "speed_scale",
        "params_file",
        "view",
    ):
        assert f"'{argument}':" in shown
    both = start(policy="a.onnx", registry_dir=tmp_path)
    assert both.end() == 1
    assert "choose one" in both.output
    params = tmp_path / "mine.yaml"
    params.write_text("policy_controller:\n  ros__parameters: {speed_scale: 0.3}\n")
    set_twice = start(params_file=params)
    assert set_twice.end() == 1
    assert "sets speed_scale of policy_controller" in set_twice.output
