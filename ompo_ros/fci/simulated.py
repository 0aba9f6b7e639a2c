"""A simulated FR3 behind the maker's protocol, as a process: our model, a domain's parameters, a user stop."""

from __future__ import annotations

import ipaddress
import json
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import numpy as np

from ompo_ros.fci import environment
from ompo_ros.parameters import InvalidParameter
from ompo_ros.resources import resource_path
from ompo_ros.sim.domain import Domain, load_domain
from ompo_ros.sim.parameters import COLUMN_COUNT, DomainValues
from ompo_ros.task.robot import Robot

PHYSICAL: Final = (  # the parameters that the server's model can express
    "payload_mass",
    "link_mass_scale",
    "joint_damping_scale",
    "friction_loss",
    "armature_scale",
    "stiffness_scale",
    "servo_damping_scale",
    "gravity",
    "contact_friction",
)
_START: Final = 60.0  # s for a server on a busy machine
_END: Final = 5.0
_READY: Final = b"ready\n"


def values_of(domain: Domain, seed: int) -> dict[str, float | list[float]]:
    """Draw the domain's values once; ValueError names what lies outside physics or changes over time."""
    refused = [name for name in domain.changed if name not in PHYSICAL]
    refused += [name for name in domain.drift if name in PHYSICAL]
    refused += ["beyond"] if domain.beyond is not None else []
    if refused:
        raise ValueError(
            f"domain {domain.name!r} sets {', '.join(refused)}, which franka_sim cannot: it takes constant or drawn "
            f"{', '.join(PHYSICAL)}"
        )
    values, generator = DomainValues(1), np.random.default_rng(seed)
    uniform, normal = generator.random((1, COLUMN_COUNT)), generator.standard_normal((1, COLUMN_COUNT))
    domain.draw(values, np.array([0]), uniform, normal)
    return {name: value for name, value in values.of_arm(0).items() if name in PHYSICAL}


@dataclass(frozen=True)
class Model:
    """Our arm and table with the names that the server looks for, and the gains of the arm's position control (7,)."""

    text: str
    stiffness: list[float]
    damping: list[float]


def fr3_model() -> Model:
    """Make the server's model from ours; the server has no place for actuators."""
    files = (resource_path(f"models/panda/{name}.xml") for name in ("panda", "table"))
    arm, table = (ElementTree.parse(file).getroot() for file in files)  # noqa: S314 - our own files
    arm.extend(section for section in table if section.tag in ("worldbody", "contact"))
    (actuators,) = arm.findall("actuator")
    arm.remove(actuators)
    for element in [*arm.iter("body"), *arm.iter("joint")]:
        name = element.get("name", "")
        if name.startswith(("link", "panda_joint")):
            element.set("name", f"fr3_{name.removeprefix('panda_')}")
    gains = [[float(gain) for gain in actuator.get("biasprm", "").split()] for actuator in actuators]
    text = ElementTree.tostring(arm, encoding="unicode")
    return Model(text, [-stiffness for _, stiffness, _ in gains], [-damping for _, _, damping in gains])


def checked_host(address: str) -> str:
    """Only this machine: the protocol has no password."""
    try:
        inside = ipaddress.IPv4Address(address).is_loopback
    except ValueError:
        inside = False
    if not inside:
        raise InvalidParameter("robot_ip", f"{address!r} is not an address of this machine, such as 127.0.0.1")
    return address


class SimulatedRobot:
    """The server's process; closing it, or the end of this process, ends it."""

    def __init__(
        self, robot: Robot, domain: str, *, seed: int = 0, host: str = "127.0.0.1", enforce_communication: bool = False
    ) -> None:
        model = fr3_model()
        settings = {
            "host": checked_host(host),
            "home": robot.home.tolist(),
            "values": values_of(load_domain(domain), seed),
            "stiffness": model.stiffness,
            "damping": model.damping,
            "enforce_communication": enforce_communication,
        }
        folder = environment.simulator_folder()
        self._files = tempfile.TemporaryDirectory(prefix="franka_sim_")
        path = Path(self._files.name) / "fr3.xml"
        path.write_text(model.text)
        self._log = Path(self._files.name) / "log"
        self.last_words = ""  # the end of the server's log, once it is closed
        server = Path(__file__).with_name("server.py")
        self._end, theirs = socket.socketpair()
        with self._log.open("wb") as log, theirs:
            self.process = subprocess.Popen(
                [environment.python(), str(server), json.dumps({**settings, "model": str(path)})],
                env=environment.variables(folder),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=log,
                start_new_session=True,  # a Ctrl-C is meant for the node
            )

    def wait_until_ready(self) -> None:
        """Wait until the robot can be connected to; OSError says why it cannot."""
        self._end.settimeout(_START)
        try:
            is_ready = self._end.recv(len(_READY)) == _READY
        except TimeoutError:
            is_ready = False
        if not is_ready:
            self.close()
            raise OSError(f"the simulated robot did not start: {self.last_words}")

    def press_user_stop(self) -> None:
        self._ask("press")

    def release_user_stop(self) -> None:
        self._ask("release")

    def raise_reflex(self) -> None:
        """A `joint_reflex`, as from a collision."""
        self._ask("reflex")

    def close(self) -> None:
        """End the server."""
        self._end.close()
        try:
            self.process.wait(_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._log.exists():
            self.last_words = " / ".join(self.log.strip().splitlines()[-3:])
        self._files.cleanup()

    @property
    def log(self) -> str:
        """What the server has complained of, while it is not closed."""
        return self._log.read_text(errors="replace")

    def _ask(self, line: str) -> None:
        self._end.send(f"{line}\n".encode())
