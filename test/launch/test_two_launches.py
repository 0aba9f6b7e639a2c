"""Launches that share a machine and a domain: the second one refuses, the first one does not notice."""

from pathlib import Path

import pytest
from launched import Launched
from shipped_policy import shipped_policy


@pytest.fixture
def start(tmp_path, ros_domain):
    path = tmp_path / "reach.onnx"
    path.write_bytes(shipped_policy(7).onnx)
    launches = []

    def start_launch(**arguments: object) -> Launched:
        chosen = {"target": "mujoco", "real_time_factor": "0.0", "policy": path, **arguments}
        launches.append(Launched(tmp_path, "deploy.launch.py", chosen))
        return launches[-1]

    yield start_launch
    for launched in launches:
        launched.clean_up()


def test_a_second_launch_of_the_same_names_ends_and_the_first_goes_on(start):
    first = start()
    first.wait_for("policy 7 takes over")
    second = start()
    assert second.end() == 1
    assert "another node has the name /ompo/" in second.output
    elsewhere = start(namespace="elsewhere")
    elsewhere.wait_for("policy 7 takes over")
    assert "holding" not in first.output.split("policy 7 takes over")[1]
    assert first.interrupt() == 0, first.output


@pytest.mark.parametrize("chosen", [None, "SUBNET"])
def test_a_stand_in_stays_on_its_machine_unless_the_user_chose_a_range(start, monkeypatch, chosen):
    monkeypatch.delenv("ROS_AUTOMATIC_DISCOVERY_RANGE")
    if chosen:
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", chosen)
    launched = start()
    launched.wait_for(r"\[policy_controller-\d+\]: process started")
    environment = Path(f"/proc/{launched.pid_of('policy_controller')}/environ").read_text().split("\0")
    assert f"ROS_AUTOMATIC_DISCOVERY_RANGE={chosen or 'LOCALHOST'}" in environment
    launched.wait_for("policy 7 takes over")
    assert launched.interrupt() == 0, launched.output
