"""Tests the policy controller against faults of time, arm and policies.

Random and trained policies, swaps, stalls of 0.05 to 2 s, ticks 20 to 80 ms apart, clocks set forward and back, blocked
arms, lost states, disabling. The fault campaign's judge, which shares no code with the safety filter, reconstructs the
driver's motion at 1 kHz and checks it against the preset's limits.

Prints a line for each arm and driver, then one JSON object: {"ticks": .., "samples": .., "limit_violations": ..}.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch

from ompo_ros.control.controller import Controller
from ompo_ros.control.safety import ArmState, SafeCommand
from ompo_ros.experiments.campaign.checks import Violation, reconstruct
from ompo_ros.experiments.campaign.commands import Command, Point
from ompo_ros.experiments.campaign.limits import read_limits
from ompo_ros.experiments.rehearse import AgentPolicy
from ompo_ros.experiments.settings import shipped_agent
from ompo_ros.learning import Agent
from ompo_ros.task.kinematics import SPHERE_RADII, FloatArray, sphere_centres
from ompo_ros.task.robot import JOINTS, Robot, load_robot
from ompo_ros.task.tasks import Float32Array, Task

ARMS: Final = (("panda", ""), ("panda", "franka_ros2"), ("fr3", ""), ("fr3", "franka_ros2"))
STRETCH: Final = 2000  # ticks that are judged together; each begins with an arm at rest somewhere
_JOB: Final = 20  # stretches that a process plays at a time
_LAG: Final = 0.03  # s by which the arm follows its driver
_ON_THE_WAY: Final = 0.01  # s that a message may take
_TABLE_EVERY: Final = 10  # samples between two checks against the table
_ABOVE: Final = 0.02  # m above the table that an arm starts
_CLOCKS: Final = (-3600 * 10**9, -(10**9), 5 * 10**8, 3600 * 10**9)  # ns by which the machine's clock is set


class Noise:
    """A random policy that changes abruptly and sometimes returns invalid actions."""

    sha256 = "0" * 64
    rest_action: Float32Array = np.zeros(JOINTS, dtype=np.float32)

    def __init__(self, rng: np.random.Generator, version: int) -> None:
        self._rng, self.version = rng, version
        self._hold = int(rng.integers(1, 40))
        self._calls = 0
        self._action: Float32Array = np.zeros(7, dtype=np.float32)

    def act(self, obs: Float32Array) -> Float32Array:
        self._calls += 1
        if self._calls % self._hold == 0:
            self._action = self._rng.uniform(-1.0, 1.0, 7).astype(np.float32) * self._rng.choice([1.0, 1.0, 50.0])
        if self._rng.random() < 1e-4:
            return np.full(7, np.nan, dtype=np.float32)
        return self._action

    def sample(self, obs: Float32Array, rng: np.random.Generator) -> Float32Array:
        return self.act(obs)


@dataclass
class Stretch:
    """One arm from rest through `STRETCH` ticks; records the messages as a driver receives them."""

    robot: Robot
    rng: np.random.Generator
    agent: Agent
    commands: list[Command] = field(default_factory=list)

    def __post_init__(self) -> None:
        task = Task("reach", "dense")
        self._policy: Noise | AgentPolicy = Noise(self.rng, 1)
        goal = task.goals(self.rng.random((1, 3)))[0]
        self.controller = Controller(self.robot, task, lambda: self._policy, goal=goal)
        self.controller.enabled = True
        drawn = self.robot.home + self.rng.uniform(-0.3, 0.3, 7)
        self.start = drawn if _height(drawn) > _ABOVE else self.robot.home
        self.now = 100.0
        self._wall = 10**18  # ns from the control clock to the machine's
        self._measured = self.start
        self._blocked_until = self._silent_until = -np.inf

    def play(self, ticks: int) -> None:
        for _ in range(ticks):
            self.now += self._gap()
            self._trouble()
            tick = self.controller.tick(self._state(), None, self.now)
            if tick.command is not None:
                self._deliver(tick.command)

    def _gap(self) -> float:
        """Seconds to the next tick: on time, jittered, or after a stall of the whole node."""
        kind = self.rng.random()
        if kind < 0.5:
            return self.robot.period
        return float(self.rng.uniform(0.02, 0.08) if kind < 0.98 else self.rng.uniform(0.05, 2.0))

    def _trouble(self) -> None:
        rng, controller = self.rng, self.controller
        if rng.random() < 0.01:
            version = self._policy.version + 1
            self._policy = (
                AgentPolicy(self.agent, version, sha256="1" * 64) if rng.random() < 0.5 else Noise(rng, version)
            )
        if rng.random() < 0.01:
            controller.go_to(Task("reach", "dense").goals(rng.random((1, 3)))[0])
        if rng.random() < 0.003:
            self._blocked_until = self.now + rng.uniform(0.1, 3.0)
        if rng.random() < 0.003:
            self._silent_until = self.now + rng.uniform(0.05, 1.0)
        if rng.random() < 0.003:
            self._wall += int(rng.choice(_CLOCKS))
        if rng.random() < 0.002:
            controller.enabled = False
        elif not controller.enabled or "until enabled" in controller.phase.value:
            controller.enabled = bool(rng.random() < 0.05)

    def _state(self) -> ArmState | None:
        reference = self.controller.motion.filter.reference(self.now - _LAG)
        if reference is not None and self.now > self._blocked_until:
            self._measured = reference + self.rng.normal(0.0, 1e-4, 7)
        age = self.now - self._silent_until if self.now < self._silent_until else 0.0
        return ArmState(self._measured, np.zeros(7), self.now + min(age, 0.0) - 0.005)

    def _deliver(self, command: SafeCommand) -> None:
        """A node sends shortly after its tick, messages take time, and late ones are withheld."""
        motion = self.controller.motion
        sent = self.now + self.rng.uniform(0.0, 0.03 if self.rng.random() < 0.01 else 0.003)
        if sent > command.latest:
            motion.withdraw()
            return
        motion.filter.sent(sent)
        if self.robot.driver.command_interface != "joint_trajectory":
            self.commands.append(Command(sent, (Point(0.0, command.position),)))
            return
        points = tuple(
            Point(knot.time - command.time, knot.position, knot.velocity, knot.acceleration) for knot in command.knots
        )
        arrival = sent + self.rng.uniform(0.0, _ON_THE_WAY)
        # Stamp and driver both use the machine's clock, in whole nanoseconds as in a message.
        stamp, heard = (self._wall + round(time * 1e9) for time in (command.time, arrival))
        self.commands.append(Command(arrival, points, arrival - (heard - stamp) * 1e-9))


def hostile(robot: str, driver: str, stretches: Iterable[int], seed: int) -> tuple[int, list[Violation]]:
    """Samples judged and limits exceeded in some stretches, by number, of one arm behind one driver."""
    torch.set_num_threads(1)
    arm, limits = load_robot(robot, driver), read_limits(robot, driver)
    agent = shipped_agent(Task("reach", "dense"), seed=0)
    samples, found = 0, []
    for stretch in stretches:
        played = Stretch(arm, np.random.default_rng((seed, stretch)), agent)
        played.play(STRETCH)
        motion, violations = reconstruct(played.commands, played.start, limits, played.now + 1.0, jitter=0.0)
        samples += len(motion.times)
        found += violations + _table_contacts(motion.times, motion.positions)
    return samples, found


def _table_contacts(times: FloatArray, positions: FloatArray) -> list[Violation]:
    """Times at which a sphere of the arm is below the table."""
    below = np.flatnonzero(_height(positions[::_TABLE_EVERY]) < 0.0)
    return [Violation(float(times[i * _TABLE_EVERY]), "table", 0, 1.0) for i in below]


def _height(positions: FloatArray) -> FloatArray:
    """How far (...) the lowest of the arm's spheres is above the table at positions (..., 7)."""
    return np.asarray((sphere_centres(positions)[..., 2] - SPHERE_RADII).min(axis=-1))


def _judge(job: tuple[str, str, range, int]) -> tuple[str, str, int, list[Violation]]:
    robot, driver, stretches, seed = job
    return robot, driver, *hostile(robot, driver, stretches, seed)


def main() -> None:
    """Play all arms and drivers, several processes at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=1_000_000, help="of each arm and driver, in stretches of 2,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    count = -(-arguments.ticks // STRETCH)
    jobs = [
        (robot, driver, range(first, min(first + _JOB, count)), arguments.seed)
        for first in range(0, count, _JOB)
        for robot, driver in ARMS
    ]
    samples, found = Counter[str](), Counter[str]()
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for done, (robot, driver, judged, violations) in enumerate(pool.imap_unordered(_judge, jobs), start=1):
            name = f"{robot} {driver or 'default'}"
            samples[name] += judged
            found[name] += len(violations)
            sys.stderr.write("".join(f"{name}: {violation}\n" for violation in violations))
            sys.stderr.write(f"{done} of {len(jobs)} parts, {found.total()} violations\n")
    for name, judged in sorted(samples.items()):
        sys.stdout.write(f"{name:20} {count * STRETCH:9} ticks {judged:10} samples {found[name]} violations\n")
    figures = {"ticks": len(ARMS) * count * STRETCH, "samples": samples.total(), "limit_violations": found.total()}
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
