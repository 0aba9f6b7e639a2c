"""The identified parameters as one vector: scales by their logarithm, so that none becomes negative."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np

from ompo_ros.sim.distributions import Constant, Normal
from ompo_ros.sim.domain import Domain, Drawn
from ompo_ros.sim.parameters import COLUMN_COUNT, COLUMN_NAMES, COLUMNS, PARAMETERS, DomainValues
from ompo_ros.task.kinematics import FloatArray

_STIFFNESSES: Final = (0.3, 1.0, 3.0, 9.0)  # times the prior's: PyBullet's drives are nearly velocity sources
_DAMPINGS: Final = (0.3, 1.0, 3.0)
_HELD: Final = 1e-3  # share of a deviation that a held parameter may move
_MOMENTS: Final = 4001  # quantiles that represent a distribution for its mean and deviation


@dataclass(frozen=True)
class Identified:
    """A parameter visible in the target's motion; `wide` is the prior's deviation in the vector's units."""

    name: str
    logarithmic: bool
    wide: float  # least deviation that the fit starts with
    narrow: float  # least deviation of the result, since no simulator is exact
    probe: float  # difference used for slopes
    longest: float  # largest move in one iteration


IDENTIFIED: Final = (
    Identified("payload_mass", False, 1.0, 0.05, 0.3, 1.0),
    Identified("stiffness_scale", True, 1.0, 0.03, 0.1, 0.7),
    Identified("servo_damping_scale", True, 0.8, 0.03, 0.1, 0.5),
    Identified("action_gain", False, 0.5, 0.02, 0.1, 0.5),
    Identified("action_bias", False, 0.7, 0.02, 0.1, 0.5),
)
NAMES: Final = tuple(COLUMN_NAMES[column] for each in IDENTIFIED for column in range(COLUMN_COUNT)[COLUMNS[each.name]])
SIZE: Final = len(NAMES)
_COLUMN: Final = np.array([COLUMN_NAMES.index(name) for name in NAMES])


def _each(attribute: str) -> FloatArray:
    return np.concatenate([np.full(PARAMETERS[each.name].size, float(getattr(each, attribute))) for each in IDENTIFIED])


WIDE, NARROW, PROBE, LONGEST = (_each(name) for name in ("wide", "narrow", "probe", "longest"))
_LOGARITHMIC: Final = _each("logarithmic") > 0
JOINT: Final = np.array([int(name.split(".")[1]) - 1 if "." in name else -1 for name in NAMES])  # -1: the whole arm's
LOW: Final = np.array([PARAMETERS[name.split(".")[0]].low for name in NAMES])
HIGH: Final = np.array([PARAMETERS[name.split(".")[0]].high for name in NAMES])


def slice_of(name: str) -> slice:
    """A parameter's place in the vector."""
    places = [place for place, each in enumerate(NAMES) if each.split(".")[0] == name]
    return slice(places[0], places[-1] + 1)


def gains_and_biases(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gains and biases among the parameters (SIZE,) in their units."""
    return values[slice_of("action_gain")], values[slice_of("action_bias")]


def text_of(values: FloatArray) -> str:
    """The main parameters among those (SIZE,) in their units, in one line."""
    payload, stiffness = values[slice_of("payload_mass")], values[slice_of("stiffness_scale")]
    gains, biases = gains_and_biases(values)
    lists = {"stiffness": stiffness, "gains": gains, "biases": biases}
    shown = (f"{name} {' '.join(f'{each:.2f}' for each in of_joints)}" for name, of_joints in lists.items())
    return f"payload {payload[0]:.2f} kg, {', '.join(shown)}"


def drives(mean: FloatArray) -> list[FloatArray]:
    """Starting points of a fit: softer and stiffer, less and more damped drives than those of `mean` (SIZE,)."""
    starts = []
    for stiffness, damping in itertools.product(_STIFFNESSES, _DAMPINGS):
        start: FloatArray = mean.copy()
        start[slice_of("stiffness_scale")] += np.log(stiffness)
        start[slice_of("servo_damping_scale")] += np.log(damping)
        starts.append(bounded(start))
    return starts


def only_commands(covariance: FloatArray) -> FloatArray:
    """A prior's covariance (SIZE, SIZE) that leaves only gains and biases free."""
    deviation = np.sqrt(np.diag(covariance))
    held = slice(0, slice_of("action_gain").start)
    deviation[held] *= _HELD
    return np.diag(deviation**2)


def to_values(vector: FloatArray) -> FloatArray:
    """Parameters (..., SIZE) in their units."""
    return np.clip(np.where(_LOGARITHMIC, np.exp(np.where(_LOGARITHMIC, vector, 0.0)), vector), LOW, HIGH)


def from_values(values: FloatArray) -> FloatArray:
    """The vector of parameters in their units."""
    return np.where(_LOGARITHMIC, np.log(np.where(_LOGARITHMIC, values, 1.0)), values)


def bounded(vector: FloatArray) -> FloatArray:
    """The nearest vector within the parameters' bounds."""
    return from_values(to_values(vector))


def probes(vector: FloatArray) -> FloatArray:
    """The differences (SIZE,) used for slopes; downwards at an upper bound."""
    return np.where(to_values(vector + PROBE) < HIGH, PROBE, -PROBE)


def moments(domain: Domain) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean (SIZE,) and deviation (SIZE,) of a domain's parameters, and the mean of every column of values."""
    values = DomainValues(_MOMENTS)
    uniform = np.tile(((np.arange(_MOMENTS) + 0.5) / _MOMENTS)[:, None], (1, COLUMN_COUNT))
    generator = np.random.default_rng(0)
    domain.draw(values, np.arange(_MOMENTS), uniform, generator.standard_normal(uniform.shape))
    vectors = from_values(values.table[:, _COLUMN])
    return vectors.mean(axis=0), vectors.std(axis=0), values.table.mean(axis=0)


def delay_of(domain: Domain) -> int:
    """The middle one of a domain's delays of commands, in control steps."""
    drawn = domain.drawn.get("command_delay")
    return 0 if drawn is None else round(float(np.mean(drawn.distribution.support)))


def table(base: FloatArray, vectors: FloatArray) -> DomainValues:
    """Values for one arm per vector (n, SIZE), all others as in `base`."""
    values = DomainValues(len(vectors))
    values.table[:] = base
    values.table[:, _COLUMN] = to_values(vectors)
    return values


def spread(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Deviations in the parameters' units; for a logarithm, a share of the mean."""
    return np.where(_LOGARITHMIC, to_values(mean) * deviation, deviation)


def believed(prior: Domain, means: FloatArray, deviations: FloatArray, delay: int) -> Domain:
    """The prior with the identified parameters (SIZE,) replaced; ValueError if a mean or deviation is impossible."""
    drawn = {**prior.drawn, **_drawn(means, deviations), "command_delay": Drawn(Constant(float(delay)))}
    return Domain("belief", drawn, {}, prior.simulator)


def _drawn(means: FloatArray, deviations: FloatArray) -> dict[str, Drawn]:
    entries = {}
    for each in IDENTIFIED:
        place, parameter = slice_of(each.name), PARAMETERS[each.name]
        centre, spreads = tuple(means[place].tolist()), tuple(deviations[place].tolist())
        if parameter.size == 1:
            entries[each.name] = Drawn(Normal(centre[0], spreads[0], parameter.low, parameter.high))
        else:
            entries[each.name] = Drawn(Normal(centre, spreads, parameter.low, parameter.high))
    return entries
