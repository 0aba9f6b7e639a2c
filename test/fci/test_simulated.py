"""The simulated robot: whose model it has, which parameters it takes, where it listens, how its packages come."""

import socket
import subprocess
import sys

import numpy as np
import pytest
from fci_robot import ANOTHER, ROBOT, Driven, simulated
from waiting import wait_until

from ompo_ros.fci import environment
from ompo_ros.fci.simulated import PHYSICAL, SimulatedRobot, checked_host, fr3_model, values_of
from ompo_ros.parameters import InvalidParameter
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.parameters import PARAMETERS


def test_the_model_is_ours_with_the_servers_names():
    model = fr3_model()
    for name in ("fr3_link0", "fr3_link7", "fr3_joint1", "fr3_joint7", "payload", "table"):
        assert f'name="{name}"' in model.text
    assert "panda_joint" not in model.text
    assert model.stiffness == [3000.0, 3000.0, 3000.0, 2500.0, 2500.0, 2000.0, 2000.0]


def test_a_domain_of_physics_is_drawn_once_by_its_seed():
    domain = load_domain("sagging")
    assert values_of(domain, 0)["payload_mass"] > 0.0
    assert values_of(domain, 0) == values_of(domain, 0)
    assert set(values_of(domain, 0)) == set(PHYSICAL)
    assert set(PHYSICAL) < set(PARAMETERS)
    assert values_of(Domain(), 0) == values_of(Domain(), 1)


@pytest.mark.parametrize(
    ("name", "refused"),
    [("creeping", "action_bias, action_noise"), ("hidden", "command_delay"), ("drifting", "which franka_sim cannot")],
)
def test_a_domain_that_lies_outside_physics_or_drifts_is_refused_by_name(name, refused):
    with pytest.raises(ValueError, match=refused):
        values_of(load_domain(name), 0)


@pytest.mark.parametrize("address", ["192.168.0.1", "::", "everywhere", ""])
def test_the_server_listens_on_this_machine_alone(address):
    with pytest.raises(InvalidParameter, match="is not an address of this machine"):
        checked_host(address)


def test_a_load_that_the_robot_does_not_know_makes_the_hand_sag():
    robot = simulated(domain="sagging", host=ANOTHER)
    driven = Driven(ANOTHER)
    try:
        driven.send([ROBOT.home] * 5)
        sag = driven.states(50).position - ROBOT.home
    finally:
        driven.close()
        robot.close()
    assert 0.02 < np.abs(sag).max() < 0.2


def test_a_second_server_at_the_same_address_says_so():
    first = simulated(host=ANOTHER)
    second = SimulatedRobot(ROBOT, "nominal", host=ANOTHER)
    try:
        with pytest.raises(OSError, match="Address already in use"):
            second.wait_until_ready()
    finally:
        first.close()


def test_the_end_of_its_owner_ends_the_server():
    simulated(host=ANOTHER).close()
    code = (
        "import os; from ompo_ros.fci.simulated import SimulatedRobot; from ompo_ros.task.robot import load_robot\n"
        f"robot = SimulatedRobot(load_robot('fr3'), 'nominal', host='{ANOTHER}'); robot.wait_until_ready()\n"
        "os.kill(os.getpid(), 9)"
    )
    owner = subprocess.run([sys.executable, "-c", code])
    assert owner.returncode == -9
    wait_until(is_free, "the server's end")


def is_free():
    """Whether nobody listens there any more."""
    with socket.socket() as end:
        return end.connect_ex((ANOTHER, 1337)) != 0


def test_packages_that_cannot_be_had_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(environment.NoSimulator, match="pip could not install franka-sim"):
        environment.simulator_folder()
    left = [path.name for path in (tmp_path / "ompo_ros").iterdir()]
    assert left == ["franka-sim.lock"]
