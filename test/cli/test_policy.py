"""`ompo policy` as a shell runs it: what it prints, and how it exits."""

import json
import os
import subprocess

import launch
import launch_pytest
import pytest
import shell
from example_policies import make_tensors
from graphs import PATIENT
from launch_ros.actions import Node as NodeAction

from ompo_ros.policy.actor import Actor
from ompo_ros.policy.artifact import make_policy
from ompo_ros.policy.manifest import Training
from ompo_ros.policy.registry import Registry
from ompo_ros.policy.registry_state import LATEST, STABLE
from ompo_ros.task.acting import Evaluation
from ompo_ros.task.tasks import Task

CONTRACT = Task("reach", "dense").contract


def make(version: int):
    tensors = make_tensors(seed=version, hidden=8)
    return make_policy(Actor(tensors), CONTRACT, version=version, stamp=1.0, training=Training(5, 6))


def ompo(*arguments: object) -> subprocess.CompletedProcess[str]:
    return shell.ompo("policy", *arguments)


def lab(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Of the server in /lab, once it is up."""
    return shell.answered("policy", *arguments, "--namespace", "/lab")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policy.onnx"
    path.write_bytes(make(7).evaluated(Evaluation(20, 19, -1.0)).onnx)
    return path


def test_inspect_shows_the_contract(file):
    result = ompo("inspect", file)
    assert result.returncode == 0, result.stderr
    for text in ("19/20 succeed", "panda_joint7", "25 Hz", "rad/s", "forward kinematics", "±1", "parity error"):
        assert text in result.stdout
    assert json.loads(ompo("inspect", file, "--json").stdout)["version"] == 7


def test_verify_passes_what_is_whole_and_refuses_the_rest(file):
    result = ompo("verify", file)
    assert (result.returncode, result.stderr) == (0, "")
    assert "onnx.checker" in result.stdout
    assert ompo("verify", file, "--sha256", "0" * 64).returncode == 1
    file.write_bytes(file.read_bytes()[:-20])
    result = ompo("verify", file)
    assert result.returncode == 1
    assert result.stderr.startswith("ompo: ")
    assert result.stdout == ""


def test_bench_tells_times(file):
    result = ompo("bench", file, "--actions", 10)
    assert result.returncode == 0, result.stderr
    assert "p99" in result.stdout


@pytest.mark.parametrize("arguments", [("verify",), ("activate", "0"), ("activate", "x"), ("fly",)], ids=str)
def test_wrong_usage_is_told_apart(arguments):
    assert ompo(*arguments).returncode == 2


def test_a_missing_file_is_refused(tmp_path):
    result = ompo("inspect", tmp_path / "none.onnx")
    assert result.returncode == 1
    assert "none.onnx" in result.stderr


@pytest.fixture
def folder(tmp_path):
    registry = Registry(tmp_path / "policies")
    for version in (1, 2, 3):
        registry.add(make(version), f"number {version}", channel=LATEST)
    registry.move(STABLE, 1, "proven")
    registry.close()
    return tmp_path / "policies"


def test_a_folder_is_listed_and_moved(folder):
    listed = ompo("list", "--registry", folder)
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["version", "1", "2", "3"]
    moved = ompo("activate", 2, "--registry", folder, "--pin", "--reason", "a test")
    assert (moved.returncode, moved.stdout.strip()) == (0, "stable moved from policy 1 to 2 and held there")
    assert "stable (held)" in ompo("list", "--registry", folder).stdout
    assert "from policy 2 to 1" in ompo("activate", "previous", "--registry", folder).stdout
    assert [move.reason for move in Registry(folder, read_only=True).moves][-2] == "a test"
    refused = ompo("activate", 9, "--registry", folder)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "it holds: 1, 2, 3" in refused.stderr
    assert ompo("list", "--registry", folder / "nowhere").returncode == 1


def test_a_damaged_policy_is_marked_in_the_list(folder):
    os.truncate(next((folder / "policies").glob("*3-*.onnx")), 5)
    lines = ompo("list", "--registry", folder).stdout.splitlines()
    assert ["DAMAGED" in line for line in lines] == [False, False, False, True]


@launch_pytest.fixture
def graph(ros_domain, folder):
    server = NodeAction(
        package="ompo_ros",
        executable="policy_server",
        namespace="lab",
        parameters=[{"registry_dir": str(folder)}],
        **PATIENT,
    )
    return launch.LaunchDescription([server, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=graph)
def test_a_running_server_is_listed_and_moved(folder):
    listed = lab("list")
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["version", "1", "2", "3"]
    assert "stable moved to policy 3" in lab("activate", 3).stdout
    assert "stable moved to policy 1" in lab("activate", "previous").stdout
    assert lab("activate", 9).returncode == 1
    assert ompo("activate", 1, "--registry", folder).returncode == 1, "the server has it"


def test_no_server_has_its_own_exit_code():
    result = ompo("list", "--namespace", "/nobody")
    assert result.returncode == 3
    assert "/nobody/policy_server" in result.stderr
