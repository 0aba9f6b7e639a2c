"""`ompo enable`, `ompo disable` and `ompo key` as a shell runs them: what they print, and how they exit."""

import stat
import subprocess
import sys
from pathlib import Path

import launch
import launch_pytest
import pytest
from launch_ros.actions import Node as NodeAction


def ompo(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("ompo")
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=60)


@launch_pytest.fixture
def arms(ros_domain, tmp_path):
    """The collector asks for signatures, the controller does not."""
    assert ompo("key", "new", tmp_path / "key").returncode == 0
    key = {"OMPO_KEY_FILE": str(tmp_path / "key")}
    nodes = [
        NodeAction(package="ompo_ros", executable="policy_controller", namespace="lab", output="screen"),
        NodeAction(
            package="ompo_ros", executable="target_collector", namespace="lab", output="screen", additional_env=key
        ),
    ]
    return launch.LaunchDescription([*nodes, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=arms)
def test_arms_are_enabled_one_by_one_with_their_key_and_disabled_together_without(tmp_path, monkeypatch):
    in_lab = ("--namespace", "/lab")
    enabled = ompo("enable", *in_lab)
    assert (enabled.returncode, enabled.stdout) == (0, "/lab/policy_controller: enabled\n"), enabled.stderr
    unsigned = ompo("enable", *in_lab, "--node", "target_collector")
    assert unsigned.returncode == 1
    assert "/lab/target_collector: refused: not signed by the key that OMPO_KEY_FILE names" in unsigned.stderr
    with monkeypatch.context() as patched:
        patched.setenv("OMPO_KEY_FILE", str(tmp_path / "key"))
        signed = ompo("enable", *in_lab, "--node", "target_collector")
        assert (signed.returncode, signed.stdout) == (0, "/lab/target_collector: enabled\n"), signed.stderr
    disabled = ompo("disable", *in_lab)
    assert disabled.returncode == 0, disabled.stderr
    assert sorted(disabled.stdout.splitlines()) == [
        "/lab/policy_controller: braking, then silent",
        "/lab/target_collector: braking, then silent",
    ]


def test_without_an_arm_node_the_shell_hears_what_to_do(ros_domain):
    result = ompo("disable", "--namespace", "/nowhere")
    assert result.returncode == 3
    assert "no /nowhere/policy_controller or /nowhere/target_collector answers: start one" in result.stderr


def test_a_new_key_is_private_and_an_old_one_stays(tmp_path):
    path = tmp_path / "key"
    assert ompo("key", "new", path).returncode == 0
    key = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = ompo("key", "new", path)
    assert again.returncode == 1
    assert "exists already" in again.stderr
    assert path.read_bytes() == key
    assert ompo("key", "new", tmp_path / "missing" / "key").returncode == 1
