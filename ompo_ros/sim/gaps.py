"""A benchmark of targets that were not hand-picked: wide distributions of arms, drawn by a seed.

A drawn arm counts if the shipped policy reaches fewer than half of its goals there, and a policy made for that arm at
least nine in ten; `ompo_ros.experiments.gaps` measures both. An arm that has to be freed by hand meanwhile does not
count.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ompo_ros.resources import resource_path
from ompo_ros.sim.beyond import Beyond
from ompo_ros.sim.distributions import Choice, Constant, LogUniform, Uniform
from ompo_ros.sim.domain import Domain, Drawn, Simulator
from ompo_ros.sim.parameters import COLUMN_COUNT, DomainValues

SEED: Final = 13
FOLDER: Final = "config/domains/gaps"
RECORD: Final = "candidates.csv"
COLUMNS: Final = ("kind", "index", "simulator", "shipped", "trained", "target_steps", "counts")
SHIPPED_BELOW: Final = 0.5  # success of the shipped policy
TRAINED_FROM: Final = 0.9  # success of a policy made for the arm
WANTED: Final = {"expressible": 8, "inexpressible": 4, "push": 4}
_SIMULATORS: Final = ("panda_gym", "mujoco")  # in turn
_OTHERWISE: Final = Simulator(0.001, "euler")  # a MuJoCo target has at least another integrator than the sources
_DIGITS: Final = 3

# What every source can express, though not within the ranges of `randomized`.
_EXPRESSIBLE: Final = {
    "payload_mass": Drawn(Uniform(0.0, 2.0)),
    "link_mass_scale": Drawn(Uniform(0.8, 1.25)),
    "stiffness_scale": Drawn(LogUniform(0.4, 2.5), shared=True),
    "servo_damping_scale": Drawn(LogUniform(0.6, 1.7), shared=True),
    "action_gain": Drawn(Uniform(0.6, 1.4)),
    "action_bias": Drawn(Uniform(-1.0, 1.0)),
    "action_noise": Drawn(Uniform(0.0, 0.05)),
    "command_delay": Drawn(Choice((0.0, 1.0))),
}
# Push: a cube and drives, both wider than the sources'.
_PUSHING: Final = {
    "cube_mass": Drawn(LogUniform(0.1, 3.0)),
    "contact_friction": Drawn(Uniform(0.15, 1.0)),
    **{name: _EXPRESSIBLE[name] for name in ("action_gain", "action_bias", "command_delay")},
}
# A milder arm with mechanics that no source expresses: lowest value, highest value, number of values.
_MILDER: Final = {
    "payload_mass": Drawn(Uniform(0.0, 2.0)),
    "action_gain": Drawn(Uniform(0.7, 1.3)),
    "action_bias": Drawn(Uniform(-0.5, 0.5)),
    "action_noise": Drawn(Uniform(0.0, 0.05)),
}
_DRAWN: Final = {"expressible": _EXPRESSIBLE, "inexpressible": _MILDER, "push": _PUSHING}
_BEYOND: Final = {
    "dead_zone": (0.0, 0.02, 7),
    "saturation": (0.02, 0.06, 7),
    "coupling": (-0.5, 0.5, 7),
    "backlash": (0.0, 0.01, 7),
    "sensor_offset": (-0.03, 0.03, 7),
    "base_tilt": (-0.3, 0.3, 2),
}


@dataclass(frozen=True)
class Gap:
    """A target: a simulator, and a domain file by a name that `load_domain` accepts."""

    simulator: str
    domain: str

    @property
    def kind(self) -> str | None:
        """That of a gap of the benchmark."""
        return kind_of(self.domain)

    def __str__(self) -> str:
        return f"{self.simulator}:{self.domain}"


def kind_of(domain: str) -> str | None:
    """The kind of a benchmark's domain; None for one that was chosen."""
    name = domain.rpartition("/")[2]
    return next((kind for kind in WANTED if name.startswith(f"{kind}_")), None)


def task_of(kind: str | None) -> str:
    """The task that an arm of this kind is drawn for."""
    return "push" if kind == "push" else "reach"


def simulator_of(index: int) -> str:
    """The simulators take turns."""
    return _SIMULATORS[index % len(_SIMULATORS)]


def draw_gap(kind: str, index: int, seed: int = SEED) -> Domain:
    """Draw arm number `index` of a kind; always the same one."""
    rng = np.random.default_rng((seed, tuple(WANTED).index(kind), index))
    drawn = _DRAWN[kind]
    values, one = DomainValues(1), np.array([0])
    Domain(drawn=drawn).draw(values, one, rng.random((1, COLUMN_COUNT)), rng.standard_normal((1, COLUMN_COUNT)))
    constants = {name: Drawn(Constant(_rounded(values[name][0]))) for name in drawn}
    beyond: dict[str, Any] = {}
    if kind == "inexpressible":
        beyond = {name: _rounded(rng.uniform(low, high, size)) for name, (low, high, size) in _BEYOND.items()}
    simulator = _OTHERWISE if simulator_of(index) == "mujoco" else Simulator()
    return Domain(f"{kind}_{index}", constants, {}, simulator, Beyond(**beyond) if beyond else None)


def read_record(folder: Path) -> list[dict[str, str]]:
    """Every candidate that was measured, in order; none if there is no record yet."""
    path = folder / RECORD
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def benchmark() -> list[Gap]:
    """The gaps found so far that count."""
    return [
        Gap(row["simulator"], f"gaps/{row['kind']}_{row['index']}")
        for row in read_record(resource_path(FOLDER))
        if row["counts"] == "yes"
    ]


def _rounded(values: Any) -> Any:  # noqa: ANN401 - one number, or one a joint
    rounded = tuple(round(float(value), _DIGITS) for value in values)
    return rounded if len(rounded) > 1 else rounded[0]
