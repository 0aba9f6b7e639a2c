"""A domain: the distribution or drift of each dynamics parameter of a Panda world, loaded from YAML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from ompo_ros.resources import resource_path
from ompo_ros.sim.beyond import Beyond, read_beyond
from ompo_ros.sim.distributions import Choice, Constant, Distribution, LogUniform, Normal, Numbers, Uniform
from ompo_ros.sim.drift import CLOCKS, Jumps, Noise, Ramp, Schedule, Sine, Trend
from ompo_ros.sim.parameters import COLUMNS, PARAMETERS, Arms, DomainValues, Parameter
from ompo_ros.task.config_file import ConfigFileError, YamlValue
from ompo_ros.task.kinematics import FloatArray

INTEGRATORS: Final = ("implicitfast", "implicit", "euler", "rk4")
_DISTRIBUTIONS: Final = ("constant", "uniform", "log_uniform", "normal", "choice")
_TRENDS: Final = ("sine", "ramp", "jumps")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Simulator:
    """MuJoCo's integration; a source cannot imitate a target exactly that differs here."""

    timestep: float = 0.002
    integrator: str = "implicitfast"


@dataclass(frozen=True)
class Drawn:
    """A distribution for one parameter; `shared` draws once for all joints."""

    distribution: Distribution
    shared: bool = False


@dataclass(frozen=True)
class Domain:
    """Parameters drawn each episode, parameters that drift, and the integrator; all others are nominal."""

    name: str = "nominal"
    drawn: dict[str, Drawn] = field(default_factory=dict)
    drift: dict[str, Schedule] = field(default_factory=dict)
    simulator: Simulator = field(default_factory=Simulator)
    beyond: Beyond | None = None  # mechanics of a stand-in robot only

    @property
    def changed(self) -> tuple[str, ...]:
        """The parameters that this domain sets."""
        return tuple(name for name in PARAMETERS if name in self.drawn or name in self.drift)

    def draw(self, values: DomainValues, arms: Arms, uniform: FloatArray, normal: FloatArray) -> None:
        """Write an episode's values for `arms` from random numbers (n, COLUMN_COUNT); drift comes on top."""
        for name, drawn in self.drawn.items():
            columns = COLUMNS[name]
            u, z = uniform[:, columns], normal[:, columns]
            if drawn.shared:
                u, z = u[:, :1], z[:, :1]
            values[name][arms] = drawn.distribution.values(u, z)


def load_domain(name_or_path: str | Path) -> Domain:
    """Load `config/domains/<name>.yaml`, or a file given by its path."""
    text = str(name_or_path)
    if text.endswith((".yaml", ".yml")):
        path = Path(text)
    else:
        folder = resource_path("config/domains")
        path = folder / f"{text}.yaml"
        if not path.exists():
            known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
            raise ConfigFileError(f"domain {text!r} is unknown; known: {known}; or give the path of a .yaml file")
    sections = YamlValue.of_file(path).mapping(("parameters", "drift", "simulator", "beyond"))
    drawn = sections["parameters"].mapping(tuple(PARAMETERS)) if "parameters" in sections else {}
    drift = sections["drift"].mapping(tuple(PARAMETERS)) if "drift" in sections else {}
    for name in drift:
        if name in drawn:
            drift[name].refuse(f"{name} is given under both parameters and drift; choose one")
    return Domain(
        name=path.stem,
        drawn={name: _read_drawn(entry, PARAMETERS[name]) for name, entry in drawn.items()},
        drift={name: _read_schedule(entry, PARAMETERS[name]) for name, entry in drift.items()},
        simulator=_read_simulator(sections["simulator"]) if "simulator" in sections else Simulator(),
        beyond=read_beyond(sections["beyond"]) if "beyond" in sections else None,
    )


def _read_drawn(entry: YamlValue, parameter: Parameter) -> Drawn:
    shared, within = False, None
    if entry.is_mapping:
        fields = entry.mapping((*_DISTRIBUTIONS, "shared", "within"))
        within = fields.pop("within").numbers(2) if "within" in fields else None
        shared = fields.pop("shared").flag() if "shared" in fields else False
        if len(fields) != 1:
            entry.refuse(f"{parameter.name} needs exactly one of {', '.join(_DISTRIBUTIONS)}")
        kind, value = next(iter(fields.items()))
    else:
        kind, value = "constant", entry
    distribution = _made(entry, lambda: _read_distribution(kind, value, parameter, within))
    _check_support(entry, parameter, distribution.support)
    _check_integer(entry, parameter, distribution)
    return Drawn(distribution, shared)


def _read_distribution(
    kind: str, value: YamlValue, parameter: Parameter, within: tuple[float, ...] | None
) -> Distribution:
    if within is not None and kind != "normal":
        raise ValueError("`within` applies only to a normal distribution")
    if kind == "constant":
        return Constant(_read_numbers(value, parameter))
    if kind == "choice":
        return Choice(value.numbers())
    ends = value.items()
    if len(ends) != 2:
        raise ValueError(f"{kind} needs 2 entries, got {len(ends)}")
    first, second = (_read_numbers(end, parameter) for end in ends)
    if kind == "uniform":
        return Uniform(first, second)
    return LogUniform(first, second) if kind == "log_uniform" else Normal(first, second, *(within or ()))


def _read_numbers(value: YamlValue, parameter: Parameter) -> Numbers:
    """One number for all joints, or a list with one per joint."""
    return value.numbers(parameter.size) if value.is_list else value.number()


def _read_schedule(entry: YamlValue, parameter: Parameter) -> Schedule:
    fields = entry.mapping((*_TRENDS, "over", "noise"))
    over = fields.pop("over").word(CLOCKS) if "over" in fields else "episodes"
    noise = _read_noise(fields.pop("noise")) if "noise" in fields else None
    if len(fields) != 1:
        entry.refuse(f"{parameter.name} needs exactly one of {', '.join(_TRENDS)}")
    kind, value = next(iter(fields.items()))
    schedule = Schedule(_made(value, lambda: _read_trend(kind, value)), over, noise)
    _check_support(entry, parameter, schedule.support)
    if parameter.integer and not (isinstance(schedule.trend, Jumps) and noise is None):
        entry.refuse(f"{parameter.name} is a whole number: only jumps without noise are allowed")
    if parameter.integer and isinstance(schedule.trend, Jumps):
        _check_integer(entry, parameter, Choice(schedule.trend.values))
    return schedule


def _read_trend(kind: str, value: YamlValue) -> Trend:
    if kind == "sine":
        mean, amplitude, rate = (part.number() for part in value.require(("mean", "amplitude", "rate")))
        return Sine(mean, amplitude, rate)
    if kind == "ramp":
        first, last, begin, end = (part.number() for part in value.require(("from", "to", "begin", "end")))
        return Ramp(first, last, begin, end)
    at, values = value.require(("at", "values"))
    return Jumps(at.numbers(), values.numbers())


def _read_noise(entry: YamlValue) -> Noise:
    uniform, over = entry.require(("uniform", "over"))
    low, high = uniform.numbers(2)
    clock = over.word(CLOCKS)
    return _made(entry, lambda: Noise(low, high, clock))


def _read_simulator(entry: YamlValue) -> Simulator:
    fields = entry.mapping(("timestep", "integrator"))
    timestep = fields["timestep"].number() if "timestep" in fields else Simulator.timestep
    substeps = 0.04 / timestep if timestep > 0 else 0.0
    if not 0.0001 <= timestep <= 0.01 or abs(substeps - round(substeps)) > 1e-9:
        fields["timestep"].refuse("the timestep must divide the control period of 0.04 s and lie in [0.0001, 0.01]")
    integrator = fields["integrator"].word(INTEGRATORS) if "integrator" in fields else Simulator.integrator
    return Simulator(timestep, integrator)


def _made(entry: YamlValue, make: Callable[[], Made]) -> Made:
    """Run a constructor and add the line to its errors."""
    try:
        return make()
    except ConfigFileError:
        raise
    except ValueError as error:
        entry.refuse(str(error))


def _check_support(entry: YamlValue, parameter: Parameter, support: tuple[float, float]) -> None:
    low, high = support
    if low < parameter.low or high > parameter.high:
        allowed = f"[{parameter.low:g}, {parameter.high:g}] {parameter.unit}"
        entry.refuse(f"{parameter.name} would reach [{low:g}, {high:g}], it must stay in {allowed}")


def _check_integer(entry: YamlValue, parameter: Parameter, distribution: Distribution) -> None:
    if not parameter.integer:
        return
    options = distribution.options if isinstance(distribution, Choice) else distribution.support
    if not isinstance(distribution, (Choice, Constant)) or any(not float(x).is_integer() for x in options):
        entry.refuse(f"{parameter.name} is a whole number: give one, or a choice of them")
