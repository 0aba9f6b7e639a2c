"""Which fault comes when: drawn from a seed, before anything runs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

NODES: Final = (  # and the robot
    "learner",
    "policy_server",
    "source_collector",
    "target_collector",
    "run_manager",
    "recorder",
)
MOVERS: Final = ("target_collector", "robot_sim", "fci_driver")  # nodes that move the arm or report its position
KINDS: Final = ("kill", "stop", "files", "disk", "network", "clock")
DRIVERS: Final = ("", "franka_ros2")
FCI: Final = "fci"  # fci_driver, on the stand-in of an FR3 behind its maker's protocol
DAMAGES: Final = {
    "checkpoint": ("flipped", "truncated"),
    "registry": ("deleted", "truncated"),
    "policy": ("flipped", "truncated"),
    "metrics": ("truncated",),
    "record": ("truncated",),
}
READERS: Final = {
    "checkpoint": "learner",
    "registry": "policy_server",
    "policy": "policy_server",
    "metrics": "run_manager",
    "record": "run_manager",
}
_PER_RUN: Final = (8, 12)
_PAUSE: Final = (2.0, 6.0)  # s
_EARLY: Final = 0.2  # share of the faults
# Kinds that need another setup of the whole run; each driver also gets runs without them.
_LEFT_OUT: Final = ((), ("network",), ("clock",), ("network", "clock"))


@dataclass(frozen=True)
class Fault:
    """One fault: `pause` seconds after the last one, `duration` seconds long; `amount` seconds of clock.

    An early one does not wait until the arm moves, so it may hit a run that is still starting.
    """

    kind: str
    victim: str
    pause: float
    duration: float = 0.0
    variant: str = ""
    amount: float = 0.0
    then_kill: bool = False
    early: bool = False
    seed: int = 0

    @property
    def concerns_motion(self) -> bool:
        """Whether the arm has to hold."""
        return self.kind == "network" or (self.kind in ("kill", "stop") and self.victim in MOVERS)

    def __str__(self) -> str:
        for_a_while = f" for {self.duration:.2f} s" if self.duration else ""
        killed = f", {READERS[self.victim]} killed" if self.then_kill else ""
        what = {
            "kill": f"{self.victim} killed",
            "stop": f"{self.victim} stopped",
            "files": f"{self.victim} {self.variant}{killed}",
            "disk": "disk full",
            "network": "network cut",
            "clock": f"clock {'+' if self.amount > 0 else '-'}{abs(self.amount):.0f} s",
        }
        return what[self.kind] + for_a_while


@dataclass(frozen=True)
class Block:
    """The faults of one run, and the driver it uses."""

    driver: str
    faults: tuple[Fault, ...]

    def uses(self, kind: str) -> bool:
        return any(fault.kind == kind for fault in self.faults)


def plan(seed: int, kinds: Sequence[str], drivers: Sequence[str] = DRIVERS) -> Iterator[Block]:
    """Draw the faults of a campaign, run by run, the drivers in turn; the same seed draws the same."""
    rng = random.Random(seed)
    left_out = {driver: _shuffled(rng) for driver in drivers}
    for driver in itertools.cycle(rng.sample(drivers, len(drivers))):
        without = next(left_out[driver])
        chosen = [kind for kind in kinds if kind not in without] or list(kinds)
        robot = "fci_driver" if driver == FCI else "robot_sim"
        drawn = (_draw(rng, chosen, robot) for _ in range(rng.randint(*_PER_RUN)))
        yield Block(driver, tuple(replace(fault, early=rng.random() < _EARLY) for fault in drawn))


def _shuffled(rng: random.Random) -> Iterator[tuple[str, ...]]:
    """The kinds that a run leaves out; each possibility occurs once before any is repeated."""
    while True:
        yield from rng.sample(_LEFT_OUT, len(_LEFT_OUT))


def _draw(rng: random.Random, kinds: Sequence[str], robot: str) -> Fault:
    kind, pause, seed = rng.choice(kinds), rng.uniform(*_PAUSE), rng.getrandbits(32)
    if kind == "kill":
        return Fault(kind, rng.choice((*NODES, robot)), pause)
    if kind == "stop":
        return Fault(kind, rng.choice((*NODES, robot)), pause, duration=0.05 * 60.0 ** rng.random())
    if kind == "files":
        victim = rng.choice(sorted(DAMAGES))
        variant = rng.choice(DAMAGES[victim])
        return Fault(kind, victim, pause, variant=variant, then_kill=rng.random() < 0.5, seed=seed)
    if kind == "disk":
        return Fault(kind, "run_dir", pause, duration=rng.uniform(0.5, 4.0))
    if kind == "network":
        return Fault(kind, "loopback", pause, duration=0.1 * 30.0 ** rng.random())
    return Fault(kind, "clock", pause, amount=rng.choice((-1.0, 1.0)) * 3600.0 ** rng.uniform(0.1, 1.0))
