"""`ompo enable`, `ompo disable` and `ompo key` as a shell runs them: what they print, and how they exit."""

import stat

import launch
import launch_pytest
import pytest
from graphs import PATIENT
from launch_ros.actions import Node as NodeAction
from shell import answered, ompo
from waiting import wait_until


@launch_pytest.fixture
def arms(ros_domain, tmp_path):
    """The collector asks for signatures, the controller does not."""
    assert ompo("key", "new", tmp_path / "key").returncode == 0
    key = {"OMPO_KEY_FILE": str(tmp_path / "key")}
    common = {"package": "ompo_ros", "namespace": "lab", "output": "screen", **PATIENT}
    nodes = [
        NodeAction(executable="policy_controller", **common),
        NodeAction(executable="target_collector", additional_env=key, **common),
    ]
    return launch.LaunchDescription([*nodes, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=arms)
def test_arms_are_enabled_one_by_one_with_their_key_and_disabled_together_without(tmp_path, monkeypatch):
    in_lab = ("--namespace", "/lab")
    enabled = answered("enable", *in_lab)
    assert (enabled.returncode, enabled.stdout) == (0, "/lab/policy_controller: enabled\n"), enabled.stderr
    unsigned = answered("enable", *in_lab, "--node", "target_collector")
    assert unsigned.returncode == 1
    assert "/lab/target_collector: refused: not signed by the key that OMPO_KEY_FILE names" in unsigned.stderr
    with monkeypatch.context() as patched:
        patched.setenv("OMPO_KEY_FILE", str(tmp_path / "key"))
        signed = answered("enable", *in_lab, "--node", "target_collector")
        assert (signed.returncode, signed.stdout) == (0, "/lab/target_collector: enabled\n"), signed.stderr
    both = ["/lab/policy_controller: braking, then silent", "/lab/target_collector: braking, then silent"]
    found = lambda: sorted(answered("disable", *in_lab).stdout.splitlines())  # noqa: E731
    wait_until(lambda: found() == both, "both arms disabled by one call")  # it may find the second too late


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
