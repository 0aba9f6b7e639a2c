"""The whole loop as a user starts it, in lockstep: it comes up, learns, survives, resumes, ends, and leaves nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from domain_coordinator import domain_id
from launched import Launched, shown_arguments
from waiting import PATIENCE

from ompo_ros.learning import checkpoint, make_agent
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.runtime import PolicyRuntime
from ompo_ros.recording import Recording, recording_files
from ompo_ros.resources import resource_path
from ompo_ros.task.tasks import Task
from ompo_ros.transitions import Origin

NODES = ("learner", "policy_server", "source_collector", "robot_sim", "target_collector", "run_manager")
ROLES = ("learner", "source", "target")
PARAMETERS = """
/**/learner:
  ros__parameters:
    warmup: 256
    source_ratio: 1.0
    update_to_data: 0.5
    publish_period: 0.3
    checkpoint_period: 1.0
    learning: {threads: 1, hidden_size: 32, batch_size: 64, local_capacity: 100, global_capacity: 20000}
/ompo/source_collector:
  ros__parameters: {arms: 4, batch_steps: 8}
policy_server:
  ros__parameters: {gate: false}
/**/run_manager:
  ros__parameters: {episodes_before: 2, episodes_after: 3, progress_period: 1.0}
"""


class Run(Launched):
    """A small adaptation run."""

    def __init__(self, folder: Path, **arguments: object) -> None:
        self.run_dir = folder / "run"
        params = folder / "params.yaml"
        params.write_text(PARAMETERS)
        chosen = {
            "target": "mujoco",
            "target_domain": "paper",
            "real_time_factor": "0.0",
            "pretrained": "none",
            "target_steps": "400",
            "params_file": params,
            "run_dir": self.run_dir,
            **arguments,
        }
        super().__init__(folder, "adapt.launch.py", chosen)


@pytest.fixture
def start(tmp_path, ros_domain):
    runs = []

    def start_run(**arguments: object) -> Run:
        runs.append(Run(tmp_path, **arguments))
        return runs[-1]

    def start_plain(**arguments: object) -> Launched:
        runs.append(Launched(tmp_path, "adapt.launch.py", arguments))
        return runs[-1]

    start_run.plain = start_plain
    yield start_run
    for run in runs:
        run.clean_up()


def test_a_run_goes_from_first_step_to_report_by_itself(start):
    run = start()
    assert run.end() == 0, run.output
    assert len(re.findall(r"ending: the run is over\n", run.output)) == 1, "none or twice"
    assert "4 arms of domain" in run.output, "the sources did not hear of the parameter file"
    report = (run.run_dir / "report.md").read_text()
    assert re.search(r"\| after \| \d+% of 3 episodes", report)
    taken = re.findall(r"(\d+) target steps in \d+ episodes \(0 dropped\)", report)
    assert [int(steps) >= 400 for steps in taken] == [True], report
    assert {"checkpoints", "policies", "metrics.csv", "curves.png", "tensorboard"} <= {
        p.name for p in run.run_dir.iterdir()
    }
    assert (run.run_dir / "params.yaml").read_text() == PARAMETERS
    explained = (run.run_dir / "README.md").read_text()
    assert [path.name for path in run.run_dir.iterdir() if path.name not in explained] == []
    assert run.left_behind() == []
    assert_learned(run.run_dir)
    assert_recorded(run.run_dir)


def assert_learned(run_dir: Path) -> None:
    """The critics explain what was recorded better than those the run began with, and the last policy is the actor."""
    learned = checkpoint.load(checkpoint.newest_good(run_dir / "checkpoints"), "cpu")
    registry = Registry(run_dir / "policies", read_only=True)
    policy = registry.load(registry.active("latest"))
    assert policy.manifest.evaluation.episodes == 3, "the run's own evaluation is not in its last policy"
    obs = np.random.default_rng(0).standard_normal(learned.obs_dim, np.float32)
    action = PolicyRuntime(policy.onnx, Task("reach", "dense").contract).act(obs)
    np.testing.assert_allclose(action, learned.act(obs, deterministic=True), atol=1e-5)

    began = make_agent(learned.config, learned.obs_dim, learned.act_dim, learned.seed, "cpu")
    assert not np.allclose(action, began.act(obs, deterministic=True), atol=1e-5)
    began.experience, began.normalizer, began.reward = learned.experience, learned.normalizer, learned.reward
    before, after = (np.mean([agent.update()["critic_loss"] for _ in range(20)]) for agent in (began, learned))
    assert after < 0.75 * before, f"critic loss on the recorded transitions: {before} before, {after} after"


def assert_recorded(run_dir: Path) -> None:
    """The recording is whole, of this run, and a new one can start from it."""
    (path,) = recording_files(run_dir)
    recording = Recording(path)
    topics = {message.topic for message in recording.messages()}
    assert recording.damage == ""
    assert {"/ompo/joint_states", "/ompo/status", "/ompo/target/episodes"} <= topics
    assert recording.about["run_id"] == (run_dir / "run_id").read_text()
    assert {batch.transitions.origin for batch in recording.batches()} == {Origin.SOURCE, Origin.TARGET}
    assert recording.refused == 0
    assert recording.policies


@pytest.mark.slow
def test_killed_nodes_come_back_and_the_run_still_ends(start):
    run = start(target_steps=600)
    run.wait_for("updates/s")
    ends = {
        "source_collector": signal.SIGINT,
        "policy_server": signal.SIGKILL,
        "recorder": signal.SIGKILL,
        "learner": signal.SIGKILL,
    }
    for node, number in ends.items():
        run.wait_for(r"policy/latest: \d+")
        os.kill(run.pid_of(node), number)
        run.wait_for(rf"\[{node}-\d+\]: process started", times=2)
    assert run.end() == 0, run.output
    assert "resumed from" in run.output
    assert run.left_behind() == []


@pytest.mark.slow
def test_a_learner_that_others_forgot_while_it_was_stopped_is_replaced(start):
    run = start(target_steps=600)
    run.wait_for(r"policy/latest: \d+")
    stop(run.pid_of("learner"), 11.0)
    run.wait_for(r"did not run for \d+\.\d s")
    run.wait_for(r"\[learner-\d+\]: process started", times=2)
    assert run.end() == 0, run.output
    assert "resumed from" in run.output


@pytest.mark.slow
def test_a_collector_that_others_forgot_while_it_was_stopped_ends_the_run_with_the_cause(start):
    run = start(target_steps=100000)
    run.wait_for(r"commands on /ompo")
    stop(run.pid_of("target_collector"), 11.0)
    assert run.end() == 1, run.output
    assert run.output.splitlines()[-1].startswith("failed: the target collector died: did not run for")
    assert run.left_behind() == []


def stop(pid: int, seconds: float) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("robot_sim", "failed: the stand-in robot died"),
        ("target_collector", "failed: the target collector died"),
        ("run_manager", "failed: the run manager died"),
    ],
)
def test_what_must_not_be_restarted_ends_the_run_with_a_reason(start, node, reason):
    run = start(target_steps=100000)
    run.wait_for("process started", times=len(NODES))
    run.wait_for(r"commands on /ompo")
    os.kill(run.pid_of(node), signal.SIGKILL)
    assert run.end() == 1, run.output
    assert run.output.splitlines()[-1] == reason
    assert run.left_behind() == []


def test_interrupted_it_ends_clean_and_resumes_where_it_was(start):
    run = start(target_steps=100000)
    run.wait_for(r"[1-9]\d\d/100000 steps")
    assert run.interrupt() == 0, run.output
    assert run.left_behind() == []
    recorded = (run.run_dir / "metrics.csv").read_text().splitlines()
    assert run.output.splitlines()[-1].endswith(f"adapt.launch.py resume:=true run_dir:={run.run_dir}")
    assert "not evaluated" in (run.run_dir / "report.md").read_text()

    refused = start()
    assert refused.end() == 1
    assert "resume:=true" in refused.output

    resumed = start(resume="true", target_steps=100000)
    resumed.wait_for(r"resumed from .*: [1-9]\d* updates")
    last = recorded[-1].split(",")[1]
    resumed.wait_for(rf"\b(?!{last}/)[1-9]\d+/100000 steps")
    assert resumed.interrupt() == 0, resumed.output
    again = (run.run_dir / "metrics.csv").read_text().splitlines()
    assert again[: len(recorded)] == recorded
    assert len(again) > len(recorded)


def contents(folder: Path) -> dict[str, bytes]:
    """What a run leaves to its user: every file right in its folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_finished_run_is_spoiled_neither_by_a_refused_resume_nor_by_a_plain_one(start, tmp_path):
    run = start(target_steps=120)
    assert run.end() == 0, run.output
    left = contents(run.run_dir)

    other_algorithm = start(resume="true", algorithm="sac")
    assert other_algorithm.end() == 1, other_algorithm.output
    assert re.search("algorithm:=sac .*algorithm:=ompo", other_algorithm.output)
    assert contents(run.run_dir) == left
    no_such_device = start(resume="true", target_steps=100000, device="cuda:7")
    assert no_such_device.end() == 1, no_such_device.output
    assert re.search("failed: learner: .*cuda", no_such_device.output.splitlines()[-1])
    found = contents(run.run_dir)
    # An identifier that the run's end kept from its last fit may have made it in between.
    left.update({name: content for name, content in found.items() if name.startswith("belief.")})
    assert found == left

    plain = start.plain(resume="true", run_dir=run.run_dir)
    assert plain.end() == 0, plain.output
    assert "process started" not in plain.output
    assert re.search(r"\| after \| \d+% of 3 episodes", plain.output)
    assert contents(run.run_dir) == left

    longer = start.plain(resume="true", run_dir=run.run_dir, target_steps=240)
    assert longer.end() == 0, longer.output
    assert "target_steps: 240 instead of 120" in longer.output
    (taken,) = re.findall(r"(\d+) target steps in", (run.run_dir / "report.md").read_text())
    assert int(taken) >= 240
    assert json.loads((run.run_dir / "launch.json").read_text())["target_steps"] == "240"


def test_a_plain_resume_goes_on_with_what_the_run_was_started_with(start, tmp_path):
    domain = tmp_path / "mine.yaml"
    domain.write_text(resource_path("config/domains/paper.yaml").read_text())
    run = start(target_steps=77777, target_domain=domain)
    run.wait_for(r"[1-9]\d\d/77777 steps")
    assert run.interrupt() == 0, run.output
    (tmp_path / "params.yaml").unlink()
    domain.unlink()
    resumed = start.plain(resume="true", run_dir=run.run_dir)
    resumed.wait_for(r"resumed from .*: [1-9]\d* updates")
    resumed.wait_for("4 arms of domain")
    resumed.wait_for(r"[1-9]\d\d/77777 steps")
    assert "adapting to mujoco" in resumed.output
    assert resumed.interrupt() == 0, resumed.output


def test_roles_that_were_started_apart_end_with_their_run(start, tmp_path):
    roles = [start(role=role, run_id="shared", run_dir=tmp_path / role, target_steps=120) for role in ROLES]
    for run in roles:
        assert run.end() == 0, run.output
        assert run.left_behind() == []
    assert "after" in (tmp_path / "target" / "report.md").read_text()


def test_push_comes_up_by_its_defaults(start):
    run = start(task="push", target_steps=100000, pretrained="auto", params_file="auto")
    run.wait_for(r"[1-9]\d+/100000 steps")  # ten episodes of the shipped policy come first
    assert run.interrupt() == 0, run.output


def test_runs_in_different_domains_do_not_meet(start, tmp_path, monkeypatch):
    whole = start(target_steps=100000)
    with domain_id() as elsewhere:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(elsewhere))
        robot_only = start(role="target", run_dir=tmp_path / "robot_only")
        robot_only.wait_for("commands on /ompo")
        lines = len(re.findall("updates/s", whole.output))
        whole.wait_for("updates/s", times=lines + 5)
        assert "evaluating the policy" in whole.output
        assert "evaluating the policy" not in robot_only.output, "it heard the other run's learner"
        assert robot_only.interrupt() == 0, robot_only.output
    assert whole.interrupt() == 0, whole.output


def test_the_wrong_robot_is_refused_with_what_to_do(start):
    panda = subprocess.Popen([sys.executable, "-m", "ompo_ros.nodes.robot_sim", "--ros-args", "-r", "__ns:=/ompo"])
    try:
        run = start(
            role="target",
            target="real",
            robot="fr3",
            driver="ros2_control",
            robot_namespace="/ompo",
            real_time_factor="1.0",
        )
        run.wait_for("holding: joint_states name panda_joint1.* expects fr3_joint1.*check the parameter `robot`")
        assert run.interrupt() == 0, run.output
    finally:
        panda.terminate()
        panda.wait(PATIENCE)


def test_arguments_are_described_and_wrong_ones_refused(start):
    shown = shown_arguments("adapt.launch.py")
    for argument in ("task", "target", "algorithm", "target_steps", "run_dir", "resume", "namespace", "seed", "role"):
        assert f"'{argument}':" in shown
    run = start(algorithm="magic")
    assert run.end() == 1
    assert "magic" in run.output
    run = start(algorithm="darc", setting="stationary")
    assert run.end() == 1, run.output
    cause = "failed: learner: setting: darc compares source and target"
    assert run.output.splitlines()[-1].startswith(cause), "the cause stands last"
